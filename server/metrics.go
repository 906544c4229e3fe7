package server

import (
	"net/http"
	"net/http/pprof"
)

// registerMetrics serves /metrics. They name tenants and queues: they are for
// those who may see these.
func registerMetrics(mux *http.ServeMux, metrics http.Handler) {
	if metrics != nil {
		mux.Handle("GET /metrics", local(metrics))
	}
}

// Admin is what operators of this machine look at: /metrics, and profiles below
// /debug/pprof/. The command line is not among them: it may hold passwords. It
// answers to localhost only, unless anyHost.
func Admin(metrics http.Handler, anyHost bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	if anyHost {
		return mux
	}
	return local(mux)
}
