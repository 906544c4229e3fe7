// Package server is the service around a node.
package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Node is what the service wants to know of the node it belongs to.
type Node interface {
	// Ready reports whether the node has a confirmed lease and takes new jobs.
	Ready() bool
	// Outage returns since when the database has been away by what the node knows;
	// zero if it is not.
	Outage() time.Time
	// Ended reports jobs whose runs ended outside of the node.
	Ended(jobs ...*fairlead.Job)
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
		if reasons := notReady(r.Context(), node, store); len(reasons) > 0 {
			answer(w, http.StatusServiceUnavailable, strings.Join(reasons, "; "))
			return
		}
		answer(w, http.StatusOK, "ok")
	})
}

// notReady lists all that keeps the process from being ready: a node that lost its lease
// in an outage has to show the outage too.
func notReady(ctx context.Context, node Node, store Store) (reasons []string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	since := node.Outage()
	switch _, err := store.Now(ctx); {
	case !since.IsZero() && err == nil: // it is back just now, or takes no writes
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
