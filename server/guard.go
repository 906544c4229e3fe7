package server

import (
	"net"
	"net/http"
)

// local keeps web pages away from a service that asks nobody who they are: those
// of other origins, and those whose name was made to point to this machine.
func local(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			answer(w, http.StatusMisdirectedRequest, "this service answers to localhost only")
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// loopback tells whether a host, with or without port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
