package server

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// newGuard returns the middleware that protects all API methods: it rejects cross-origin
// requests of web pages and identifies the caller.
func newGuard(auth Auth, registrar access.Store, log *slog.Logger) func(http.Handler) http.Handler {
	who := authn.New(auth.options(), registrar, log)
	return func(next http.Handler) http.Handler {
		next = who.Handler(next)
		if auth.Required {
			return http.NewCrossOriginProtection().Handler(next)
		}
		return local(next)
	}
}

// stayWithTLS tells browsers to use only TLS for a year. It does not include subdomains,
// because they may be other services.
const stayWithTLS = "max-age=31536000"

// hardened adds security headers to all responses.
func hardened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if r.TLS != nil && !loopback(r.Host) { // other servers on localhost may not use TLS
			header.Set("Strict-Transport-Security", stayWithTLS)
		}
		next.ServeHTTP(w, r)
	})
}

// errForeignHost rejects a request for a host other than this machine. It has the same
// status and problem for all protocols, because the request is rejected before its protocol
// is known.
var errForeignHost = &rest.Error{Status: http.StatusMisdirectedRequest, Detail: "this service has no tokens and accepts requests for localhost only; use localhost or 127.0.0.1 as the host, or create a token"}

// local protects a service that does not authenticate callers from web pages: those of
// other origins, and those with a host name that points to this machine (DNS rebinding).
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
