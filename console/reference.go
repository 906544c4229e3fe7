package console

import "net/http"

// reference answers with the description of the API, which the service itself has: under
// a prefix it would not be found otherwise.
func (c *Console) reference(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		own := r.Clone(r.Context())
		own.URL.Path, own.URL.RawPath, own.RequestURI = path, "", path
		c.api.ServeHTTP(w, own)
	}
}
