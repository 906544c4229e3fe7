package console

import "net/http"

// reference serves the service's API documentation, which would not be reachable below a
// prefix otherwise.
func (c *Console) reference(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		own := r.Clone(r.Context())
		own.URL.Path, own.URL.RawPath, own.RequestURI = path, "", path
		c.api.ServeHTTP(w, own)
	}
}
