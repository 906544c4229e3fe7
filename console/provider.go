package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
)

// A Provider is an identity provider through which viewers sign in. It uses the OpenID Connect
// authorization code flow with PKCE.
type Provider interface {
	// Name returns the display name.
	Name() string
	// AuthURL returns the URL to which browsers are sent. They come back to redirect.
	AuthURL(redirect, state, nonce, verifier string) string
	// Exchange exchanges a code for a token, which the API must accept.
	Exchange(ctx context.Context, redirect, code, nonce, verifier string) (token string, err error)
}

const (
	providerPath = "/login/provider"
	callbackPath = "/login/callback"
	// signInCookie identifies a sign-in in progress, in the browser that began it.
	signInCookie  = "fairlead_sign_in"
	signInSeconds = 600
)

// pendingSignIn is a sign-in in progress.
type pendingSignIn struct {
	State, Nonce, Verifier, Next string
}

// ProviderName returns the display name of the identity provider, or an empty string if
// there is none.
func (v *visit) ProviderName() string {
	if v.console.options.Provider == nil {
		return ""
	}
	return v.console.options.Provider.Name()
}

// goToProvider redirects the browser to the identity provider.
func (c *Console) goToProvider(w http.ResponseWriter, r *http.Request) {
	pending := pendingSignIn{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Next: localPath(r.URL.Query().Get("next"))}
	raw, err := json.Marshal(pending)
	if err != nil {
		c.showLogin(w, r, http.StatusInternalServerError, signIn{pending.Next, err.Error()})
		return
	}
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: signInCookie, Value: base64.RawURLEncoding.EncodeToString(raw), MaxAge: signInSeconds, HttpOnly: true}))
	http.Redirect(w, r, c.options.Provider.AuthURL(c.callbackURL(r), pending.State, pending.Nonce, pending.Verifier), http.StatusSeeOther)
}

// backFromProvider exchanges the code in the callback for a token.
func (c *Console) backFromProvider(w http.ResponseWriter, r *http.Request) {
	pending, began := pendingOf(r)
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: signInCookie, MaxAge: -1, HttpOnly: true}))
	v, query := c.visit(r, c.stranger(r, "")), r.URL.Query()
	switch {
	case !began || subtle.ConstantTimeCompare([]byte(pending.State), []byte(query.Get("state"))) != 1:
		c.showLogin(w, r, http.StatusBadRequest, signIn{pending.Next, v.T("This sign-in was not started here or has expired. Try again.")})
		return
	case query.Get("code") == "":
		c.options.Log.Warn("sign-in refused by the identity provider", "error", fmt.Sprintf("%.100q", query.Get("error"))) // anyone may send it
		c.showLogin(w, r, http.StatusForbidden, signIn{pending.Next, v.T("The identity provider rejected the sign-in.")})
		return
	}
	token, err := c.options.Provider.Exchange(r.Context(), c.callbackURL(r), query.Get("code"), pending.Nonce, pending.Verifier)
	if err != nil {
		c.options.Log.Warn("sign-in failed", "error", err)
		c.showLogin(w, r, http.StatusBadGateway, signIn{pending.Next, v.T("The identity provider rejected the sign-in.")})
		return
	}
	v.token = token
	c.signIn(w, r, v, pending.Next)
}

// pendingOf returns the sign-in that this browser began.
func pendingOf(r *http.Request) (pending pendingSignIn, began bool) {
	cookie, err := r.Cookie(signInCookie)
	if err != nil {
		return pending, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(raw, &pending) != nil {
		return pendingSignIn{}, false
	}
	return pending, pending.State != "" && pending.Verifier != ""
}

// callbackURL returns the URL to which the provider redirects browsers. The provider must
// know the URL.
func (c *Console) callbackURL(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil || c.options.Secure {
		scheme = "https://"
	}
	return scheme + r.Host + c.options.Prefix + callbackPath
}
