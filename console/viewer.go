package console

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// viewer is the user who views a page.
type viewer struct {
	token         string // empty = none was given
	host, address string // host and address of the request, which the API checks too
	tls           *tls.ConnectionState

	// Answers of the API for the token.
	Name    string
	Role    string
	Tenants []string // tenants that the viewer is bound to; empty = not bound
	scope   string   // equal for viewers with the same permissions; empty = not known yet
}

// identify identifies the sender of a request. It returns CodeUnauthenticated if a token is
// required, or no longer valid.
func (c *Console) identify(r *http.Request) (*viewer, error) {
	v := c.stranger(r, "")
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return v, c.introduce(r, v)
	}
	v.token = cookie.Value
	err = c.introduce(r, v)
	if connect.CodeOf(err) == connect.CodeUnauthenticated {
		// Browsers send a cookie to all ports of a machine: it may belong to another service,
		// while this one requires no token.
		if unasked := c.stranger(r, ""); c.introduce(r, unasked) == nil {
			return unasked, nil
		}
	}
	return v, err
}

// stranger returns a viewer who is known only from the request.
func (c *Console) stranger(r *http.Request, token string) *viewer {
	return &viewer{token: token, host: r.Host, address: r.RemoteAddr, tls: r.TLS}
}

// introduce asks the API for the identity of a viewer.
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

// Local reports whether the service requires no token.
func (v *viewer) Local() bool { return v.token == "" && v.Role != "" }

// Bound reports whether the viewer is restricted to some tenants.
func (v *viewer) Bound() bool { return len(v.Tenants) > 0 }

// Unbound reports whether the viewer may see all tenants.
func (v *viewer) Unbound() bool { return !v.Bound() }

// Admin reports whether the viewer may see tokens and the audit log.
func (v *viewer) Admin() bool { return v.Role == "admin" }
