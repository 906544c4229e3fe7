package console

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// viewer is who looks.
type viewer struct {
	token         string // empty: none was given
	host, address string // of the request, by which the API judges callers as well
	tls           *tls.ConnectionState

	// What the API says of the token.
	Name    string
	Role    string
	Tenants []string // bound to these; none: to no tenant
	scope   string   // the same for all who may see the same; empty: not known yet
}

// identify finds out who sends a request. It fails with CodeUnauthenticated if a token
// is needed, or counts no longer.
func (c *Console) identify(r *http.Request) (*viewer, error) {
	v := c.stranger(r, "")
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return v, c.introduce(r, v)
	}
	v.token = cookie.Value
	err = c.introduce(r, v)
	if connect.CodeOf(err) == connect.CodeUnauthenticated {
		// Browsers send a cookie to all ports of a machine: it may be of another service,
		// while this one needs no token.
		if unasked := c.stranger(r, ""); c.introduce(r, unasked) == nil {
			return unasked, nil
		}
	}
	return v, err
}

// stranger is a viewer who is known only by the request.
func (c *Console) stranger(r *http.Request, token string) *viewer {
	return &viewer{token: token, host: r.Host, address: r.RemoteAddr, tls: r.TLS}
}

// introduce asks the API who a viewer is.
func (c *Console) introduce(r *http.Request, v *viewer) error {
	who, err := c.services.tokens.WhoAmI(withViewer(r.Context(), v), &fairleadv1.WhoAmIRequest{})
	if err != nil {
		return err
	}
	if who.GetRole() == "worker" {
		return connect.NewError(connect.CodePermissionDenied, errWorker)
	}
	v.Name, v.Role, v.Tenants = who.GetName(), who.GetRole(), slices.Sorted(slices.Values(who.GetTenants()))
	v.scope = v.Role + "\x00" + strings.Join(v.Tenants, "\x00")
	return nil
}

// Local reports whether the service needs no token.
func (v *viewer) Local() bool { return v.token == "" && v.Role != "" }

// Bound reports whether the viewer sees some tenants only.
func (v *viewer) Bound() bool { return len(v.Tenants) > 0 }

// Unbound reports whether the viewer sees all tenants.
func (v *viewer) Unbound() bool { return !v.Bound() }

// Admin reports whether the viewer may see tokens and the audit log.
func (v *viewer) Admin() bool { return v.Role == "admin" }
