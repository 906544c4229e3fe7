package server

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/fairlead-io/fairlead/internal/openapi"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// registerDocs serves what the routes are, for programs and for people.
func registerDocs(mux *http.ServeMux, routes []*rest.Route, version string) error {
	document, err := openapi.Document(routes, version)
	if err != nil {
		return fmt.Errorf("openapi: %w", err)
	}
	raw, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("openapi: %w", err)
	}
	page, err := openapi.Page(routes, version)
	if err != nil {
		return fmt.Errorf("docs: %w", err)
	}
	fixed(mux, "/openapi.json", "application/json", append(raw, '\n'))
	fixed(mux, "/docs", "text/html; charset=utf-8", page)
	fixed(mux, "/version", "text/plain; charset=utf-8", []byte(version+"\n"))
	return nil
}

// fixed serves what does not change while the program runs.
func fixed(mux *http.ServeMux, path, kind string, body []byte) {
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Type", kind)
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		_, _ = w.Write(body) // a caller that has gone needs no answer
	})
}
