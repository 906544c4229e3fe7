package console

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead/access"
)

func TestWhoIsNotKnownIsAskedForAToken(t *testing.T) {
	r := newRig(t, true, nil)
	for i := range screens {
		path := strings.NewReplacer("{$}", "", "{id}", "1", "{name}", "x").Replace(screens[i].path)
		answer := r.ask(http.MethodGet, path+"?a=b", nil)
		if to := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || to != "/login?next="+url.QueryEscape(path+"?a=b") {
			t.Errorf("%s: %d to %s", path, answer.StatusCode, to)
		}
	}
	r.shows(r.page(http.StatusOK, "/login?next=/jobs"), `name="token"`, `value="/jobs"`)
}

func TestASignInLastsAsLongAsItsToken(t *testing.T) {
	r := newRig(t, true, nil)
	secret := r.token("reader", access.RoleViewer)
	answer := r.ask(http.MethodPost, "/login", url.Values{"token": {" " + secret + "\n"}, "next": {"/?a=b"}})
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/?a=b" || len(answer.Cookies()) != 1 {
		t.Fatalf("%d to %s with %v", answer.StatusCode, answer.Header.Get("Location"), answer.Cookies())
	}
	cookie := answer.Cookies()[0]
	if cookie.Name != sessionCookie || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure || cookie.Path != "/" {
		t.Errorf("the cookie is %v", cookie)
	}
	r.shows(r.page(http.StatusOK, "/", sessionCookie, secret), "reader", "Sign out")
	r.hides(r.page(http.StatusOK, "/", sessionCookie, secret), secret)
	tokens, err := r.store.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.DeleteToken(t.Context(), tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	answer = r.ask(http.MethodPost, "/logout", url.Values{}, sessionCookie, secret)
	if cookie := answer.Cookies()[0]; cookie.Name != sessionCookie || cookie.MaxAge >= 0 || answer.Header.Get("Location") != "/login" {
		t.Errorf("the cookie is %v", cookie)
	}
}

func TestATokenThatIsNotKnownSignsNobodyIn(t *testing.T) {
	r := newRig(t, true, nil)
	worker := r.token("worker", access.RoleWorker)
	for token, status := range map[string]int{"": http.StatusUnprocessableEntity, "wrong": http.StatusUnauthorized, "a b": http.StatusUnprocessableEntity, strings.Repeat("x", 4000): http.StatusUnprocessableEntity, worker: http.StatusForbidden} {
		answer := r.ask(http.MethodPost, "/login", url.Values{"token": {token}})
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != status || len(answer.Cookies()) != 0 || !strings.Contains(string(body), `role="alert"`) {
			t.Errorf("%.10q: %d, %v, %v", token, answer.StatusCode, answer.Cookies(), err)
		}
		if len(token) > 10 && strings.Contains(string(body), token) {
			t.Errorf("%.10q is shown", token)
		}
	}
}

func TestCookiesAreSecureWhereThereIsTLS(t *testing.T) {
	r := newRig(t, true, nil)
	secret := r.token("reader", access.RoleViewer)
	for name, change := range map[string]func(*http.Request){
		"of its own": func(request *http.Request) { request.TLS = &tls.ConnectionState{} },
		"of a proxy": func(*http.Request) { r.console.options.Secure = true },
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", strings.NewReader(url.Values{"token": {secret}}.Encode()))
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			change(request)
			answer := httptest.NewRecorder()
			r.api.ServeHTTP(answer, request)
			if cookies := answer.Result().Cookies(); len(cookies) != 1 || !cookies[0].Secure || !cookies[0].HttpOnly {
				t.Errorf("the cookies are %v", cookies)
			}
		})
	}
}

func TestASignInLeadsNowhereElse(t *testing.T) {
	for next, want := range map[string]string{
		"/jobs?a=b": "/jobs?a=b", "": "/", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/", "jobs": "/", "javascript:alert(1)": "/", "/jobs#x": "/jobs", "///evil.example": "/",
	} {
		if got := localPath(next); got != want {
			t.Errorf("%q leads to %q instead of %q", next, got, want)
		}
	}
}

func TestPagesOfOthersCannotPost(t *testing.T) {
	r := newRig(t, false, nil)
	for _, path := range []string{"/login", "/logout", "/preferences"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		answer := httptest.NewRecorder()
		r.api.ServeHTTP(answer, request)
		if answer.Code != http.StatusForbidden {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
}

func TestANameThatPointsHereIsNotAnswered(t *testing.T) {
	r := newRig(t, false, nil)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	request.Host = "rebound.example"
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	if answer.Code == http.StatusOK {
		t.Error("a page is shown to a web page whose name was made to point to this machine")
	}
}

func TestACookieOfAnotherServiceLocksNobodyOut(t *testing.T) {
	r := newRig(t, false, nil)
	r.shows(r.page(http.StatusOK, "/", sessionCookie, "of-another-port"), "local")
}

func TestOneRevokedTokenSignsNoOtherViewerOut(t *testing.T) {
	if !personal(connect.NewError(connect.CodeUnauthenticated, errWorker)) || personal(nil) || personal(connect.NewError(connect.CodeUnavailable, errWorker)) {
		t.Error("errors about one viewer are not told from errors about all")
	}
}

func TestALivePartIsAskedForByGET(t *testing.T) {
	r := newRig(t, false, nil)
	if answer := r.ask(http.MethodHead, "/live/", nil); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD is answered with %d", answer.StatusCode)
	}
	if answer := r.ask(http.MethodGet, "/live/anything", nil); answer.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown page is answered with %d", answer.StatusCode)
	}
}
