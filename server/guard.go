package server

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// newGuard is what stands before everything that callers can do: it keeps web
// pages of others away and finds out who the caller is.
func newGuard(auth Auth, registrar access.Store, log *slog.Logger) func(http.Handler) http.Handler {
	who := newIdentifier(auth, registrar, log)
	return func(next http.Handler) http.Handler {
		next = who.handler(next)
		if auth.Required {
			return http.NewCrossOriginProtection().Handler(next)
		}
		return local(next)
	}
}

// stayWithTLS tells browsers for how long they are to use TLS alone: a year. Names below this
// host are not included, because they may be other services.
const stayWithTLS = "max-age=31536000"

// hardened tells browsers to be careful with whatever is answered.
func hardened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if r.TLS != nil && !loopback(r.Host) { // localhost has other servers, which may speak no TLS
			header.Set("Strict-Transport-Security", stayWithTLS)
		}
		next.ServeHTTP(w, r)
	})
}

// errForeignHost refuses a request for another host than this machine. Every protocol answers it
// with the same status and problem, because the request is refused before its protocol is known.
var errForeignHost = &rest.Error{Status: http.StatusMisdirectedRequest, Detail: "without tokens this service answers only to localhost; use localhost or 127.0.0.1 as the host, or create a token"}

// local keeps web pages away from a service that does not authenticate callers: those
// of other origins, and those whose name was made to point to this machine.
func local(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			rest.Refuse(w, errForeignHost)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// loopback reports whether a host, with or without port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
