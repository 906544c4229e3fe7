// Package server implements the HTTP service of a node.
package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A Node provides the information about a node that its service needs.
type Node interface {
	// Ready reports whether the node has a confirmed lease and takes new jobs.
	Ready() bool
	// Outage returns the start of the current database outage as known to the node, or zero.
	Outage() time.Time
	// Ended informs the node of jobs whose runs ended outside of it.
	Ended(jobs ...*fairlead.Job)
}

// Health returns the HTTP handler for /livez and /readyz. A process is live as long as it
// responds. It is ready while its node has a confirmed lease and the database responds. A
// draining node is not ready, so load balancers stop sending requests to it before it shuts
// down.
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
		if reasons := notReady(r.Context(), node, store); len(reasons) > 0 {
			answer(w, http.StatusServiceUnavailable, strings.Join(reasons, "; "))
			return
		}
		answer(w, http.StatusOK, "ok")
	})
}

// notReady returns all reasons why the process is not ready: a node that lost its lease in
// an outage must report the outage too.
func notReady(ctx context.Context, node Node, store Store) (reasons []string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	since := node.Outage()
	switch _, err := store.Now(ctx); {
	case !since.IsZero() && err == nil: // it just recovered, or is read-only
		reasons = append(reasons, fmt.Sprintf("the node's beats have failed since %s, though the database answers", since.UTC().Format(time.RFC3339)))
	case !since.IsZero():
		reasons = append(reasons, fmt.Sprintf("the database has not answered since %s", since.UTC().Format(time.RFC3339)))
	case err != nil:
		reasons = append(reasons, "the database does not answer")
	}
	if !node.Ready() {
		reasons = append(reasons, "the node has no confirmed lease, or is shutting down")
	}
	return reasons
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
