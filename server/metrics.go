package server

import (
	"net/http"
	"net/http/pprof"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// registerMetrics serves /metrics. Metrics contain names of tenants and queues, so only
// callers with access to all of these may read them.
func registerMetrics(mux *http.ServeMux, guard func(http.Handler) http.Handler, metrics http.Handler) {
	if metrics == nil {
		return
	}
	mux.Handle("GET /metrics", guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller.Of(r.Context())
		switch {
		case c.Refusal != nil:
			rest.Refuse(w, c.Refusal)
		case !c.Identity.Role.May(access.RoleViewer):
			rest.Refuse(w, caller.ErrRole(c.Identity.Role, access.RoleViewer))
		case c.Identity.Restricted():
			rest.Refuse(w, caller.ErrForbidden)
		default:
			metrics.ServeHTTP(w, r)
		}
	})))
}

// Admin returns the HTTP handler for this machine's operators: /metrics, and profiles below
// /debug/pprof/. It does not serve the command line, which may contain passwords. It accepts
// only requests to localhost, unless anyHost is set.
func Admin(metrics http.Handler, anyHost bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	bounded := overload.WithDeadlines(http.MaxBytesHandler(mux, overload.SmallBody))
	if anyHost {
		return bounded
	}
	return local(bounded)
}
