// Package server is the service around a node.
package server

import (
	"context"
	"net/http"
	"time"
)

// Node is what the service wants to know of the node it belongs to.
type Node interface {
	// Ready reports whether the node has a confirmed lease and takes new jobs.
	Ready() bool
}

// Health answers /livez and /readyz. A process is live while it answers at
// all; it is ready while its node has a confirmed lease and the database
// answers. Draining makes it not ready, so that load balancers turn away first.
func Health(node Node, store Store) http.Handler {
	mux := http.NewServeMux()
	registerHealth(mux, node, store)
	return mux
}

func registerHealth(mux *http.ServeMux, node Node, store Store) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !node.Ready() {
			answer(w, http.StatusServiceUnavailable, "the node has no confirmed lease, or is shutting down")
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if _, err := store.Now(ctx); err != nil {
			answer(w, http.StatusServiceUnavailable, "the database does not answer")
			return
		}
		answer(w, http.StatusOK, "ok")
	})
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
