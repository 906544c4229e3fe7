package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"connectrpc.com/connect"
)

// sessionCookie contains the token of the signed-in viewer. Sessions are not stored on the
// server, so they are valid on every node, and end with the token.
const sessionCookie = "fairlead_session"

// maxToken limits the size of a token in a cookie, in bytes.
const maxToken = 3800

var errWorker = errors.New("this is a worker token; sign in with a token that has a different role")

// signIn is the data of the sign-in page.
type signIn struct {
	Next  string // page to show after signing in
	Error string
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	who, err := c.identify(r)
	switch {
	case err == nil:
		c.redirect(w, r, r.URL.Query().Get("next"))
		return
	case errors.Is(err, errForeignHost):
		c.refuse(w, c.visit(r, who), err)
		return
	}
	c.showLogin(w, r, http.StatusOK, signIn{Next: r.URL.Query().Get("next")})
}

func (c *Console) showLogin(w http.ResponseWriter, r *http.Request, status int, page signIn) {
	v := c.visit(r, c.stranger(r, ""))
	page.Next = localPath(page.Next)
	c.render(w, status, "login", v.show(page))
}

// login accepts a token, and stores it in the browser if the API accepts it.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	posted := postedFields(w, r)
	v := c.visit(r, c.stranger(r, strings.TrimSpace(posted.Get("token"))))
	if v.token == "" {
		c.showLogin(w, r, http.StatusUnprocessableEntity, signIn{posted.Get("next"), v.T("Enter a token.")})
		return
	}
	c.signIn(w, r, v, posted.Get("next"))
}

// signIn stores a token in the browser if the API accepts it, and redirects to the next
// page.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request, v *visit, next string) {
	if len(v.token) > maxToken || strings.ContainsAny(v.token, "\";\\, \t\r\n") {
		c.showLogin(w, r, http.StatusUnprocessableEntity, signIn{next, v.T("Invalid token: it is too long or contains spaces or quotes.")})
		return
	}
	if err := c.introduce(r, v.viewer); err != nil {
		status, text := v.refusal(err)
		c.showLogin(w, r, status, signIn{next, text})
		return
	}
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: sessionCookie, Value: v.token, HttpOnly: true}))
	c.redirect(w, r, next)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: sessionCookie, MaxAge: -1, HttpOnly: true}))
	http.Redirect(w, r, c.options.Prefix+"/login", http.StatusSeeOther)
}

// cookie sets the common attributes of all cookies: they are sent only to the console, not
// with requests from other sites, and only over TLS where TLS is used.
func (c *Console) cookie(r *http.Request, cookie *http.Cookie) *http.Cookie {
	cookie.Path, cookie.SameSite, cookie.Secure = c.options.Prefix+"/", http.SameSiteLaxMode, r.TLS != nil || c.options.Secure
	return cookie
}

// redirect redirects to a path of the console.
func (c *Console) redirect(w http.ResponseWriter, r *http.Request, next string) {
	http.Redirect(w, r, c.options.Prefix+localPath(next), http.StatusSeeOther)
}

// localPath returns a path below the prefix, or "/" if it leads elsewhere.
func localPath(next string) string {
	to, err := url.Parse(next)
	if err != nil || to.Scheme != "" || to.Host != "" || !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") || strings.Contains(next, "\\") {
		return "/"
	}
	to.Fragment = ""
	return to.String()
}

// refusal returns the displayed text of an API error, and the status of the page.
func (v *visit) refusal(err error) (status int, text string) {
	var refused *connect.Error
	if errors.Is(err, errForeignHost) {
		return http.StatusMisdirectedRequest, v.T("Without tokens, this server accepts requests from localhost only. Open the console at localhost or 127.0.0.1, or create a token.")
	}
	if !errors.As(err, &refused) {
		return http.StatusInternalServerError, v.T("This page could not be displayed. See the server log for the reason.")
	}
	switch refused.Code() {
	case connect.CodeUnauthenticated:
		return http.StatusUnauthorized, v.T("The token is unknown, revoked or expired. Ask an admin for a new one.")
	case connect.CodePermissionDenied:
		return http.StatusForbidden, v.refusalWords(refused.Message())
	case connect.CodeNotFound:
		return http.StatusNotFound, v.refusalWords(refused.Message())
	case connect.CodeInvalidArgument:
		return http.StatusBadRequest, v.refusalWords(strings.TrimPrefix(refused.Message(), "invalid: ")) // the status already says so
	case connect.CodeFailedPrecondition:
		return http.StatusConflict, v.refusalWords(refused.Message())
	case connect.CodeResourceExhausted:
		return http.StatusTooManyRequests, v.refusalWords(refused.Message())
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded:
		return http.StatusServiceUnavailable, v.T("The database is not responding. The page retries automatically.")
	}
	return http.StatusInternalServerError, refused.Message()
}
