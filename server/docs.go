package server

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/fairlead-io/fairlead/server/internal/openapi"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// registerDocs serves the documentation of the routes, for programs and for people. It
// generates each document on the first request, because most programs never serve one.
func registerDocs(mux *http.ServeMux, routes []*rest.Route, version string) {
	fixed(mux, "/openapi.json", "application/json", func() ([]byte, error) {
		document, err := openapi.Document(routes, version)
		if err != nil {
			return nil, err
		}
		raw, err := json.MarshalIndent(document, "", "  ")
		return append(raw, '\n'), err
	})
	fixed(mux, "/docs", "text/html; charset=utf-8", func() ([]byte, error) { return openapi.Page(routes, version) })
	fixed(mux, "/version", "text/plain; charset=utf-8", func() ([]byte, error) { return []byte(version + "\n"), nil })
}

// fixed serves content that does not change while the program runs.
func fixed(mux *http.ServeMux, path, kind string, body func() ([]byte, error)) {
	body = sync.OnceValues(body)
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		content, err := body()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		header := w.Header()
		header.Set("Content-Type", kind)
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		_, _ = w.Write(content) // the caller may have disconnected
	})
}
