package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

// untouched is a body that must not be read.
type untouched struct {
	read bool
}

func (u *untouched) Read([]byte) (int, error) {
	u.read = true
	return 0, io.EOF
}

func (*untouched) Close() error { return nil }

// Callers are rejected by the path and the headers of their request: the body is neither
// read nor decompressed nor decoded.
func TestNothingOfABodyIsReadBeforeItsCallerIsAdmitted(t *testing.T) {
	a := newGuardedAPI(t)
	type place struct{ verb, path, contentType, encoding string }
	places := []place{
		{"POST", "/api/v1/batches/upload?name=n&type=paint", "text/csv", ""},
		{"POST", "/api/v1/callbacks/1", "application/json", ""},
	}
	for _, method := range methods() {
		procedure := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
		if everyMethod[method.Name()].role == "" {
			continue // every caller with a token may
		}
		for _, kind := range []string{"application/grpc", "application/grpc+proto", "application/grpc-web", "application/proto", "application/json", "application/connect+proto", "application/connect+json"} {
			places = append(places, place{"POST", procedure, kind, "gzip"}, place{"POST", procedure, kind, ""})
		}
		if rule := ruleOf(method); rule != nil && rule.GetBody() == "*" {
			verb, path := verbAndPath(rule)
			places = append(places, place{verb, withParams(path, nil), "application/json", "gzip"}, place{verb, withParams(path, nil), "application/json", ""})
		}
	}
	for _, secret := range []string{"", "garbage", a.token(access.RoleViewer, "")} {
		for i, place := range places {
			if secret == "garbage" && i%100 != 0 {
				continue // who guesses often is answered slowly
			}
			if secret == a.token(access.RoleViewer, "") && everyMethodAllowsViewers(place.path) {
				continue
			}
			body := &untouched{}
			request := httptest.NewRequestWithContext(t.Context(), place.verb, place.path, body)
			request.ContentLength = -1
			request.Header.Set("Content-Type", place.contentType)
			if place.encoding != "" {
				for _, name := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
					request.Header.Set(name, place.encoding)
				}
			}
			if secret != "" {
				request.Header.Set("Authorization", "Bearer "+secret)
			}
			answer := httptest.NewRecorder()
			a.service.ServeHTTP(answer, request)
			if body.read {
				t.Errorf("%s %s (%s, %q) with the token %.7q: the body was read", place.verb, place.path, place.contentType, place.encoding, secret)
			}
			if refusedIn(answer) == "" {
				t.Errorf("%s %s (%s, %q) with the token %.7q: %d %s", place.verb, place.path, place.contentType, place.encoding, secret, answer.Code, answer.Body)
			}
		}
	}
}

// everyMethodAllowsViewers reports whether viewers may call the method at a path.
func everyMethodAllowsViewers(path string) bool {
	for _, method := range methods() {
		row := everyMethod[method.Name()]
		if path == "/"+string(method.Parent().FullName())+"/"+string(method.Name()) {
			return row.role == access.RoleViewer
		}
		if rule := ruleOf(method); rule != nil && rule.GetBody() == "*" {
			if _, at := verbAndPath(rule); withParams(at, nil) == path && row.role == access.RoleViewer {
				return true
			}
		}
	}
	return false
}

// refusedIn returns the error of a response that rejects its caller, or an empty string for
// other responses.
func refusedIn(answer *httptest.ResponseRecorder) string {
	switch answer.Code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return answer.Result().Status
	}
	if status := answer.Header().Get("Grpc-Status"); status == "16" || status == "7" || status == "8" {
		return status
	}
	if answer.Code == http.StatusOK && answer.Body.Len() > 5 { // the end of a stream of Connect
		return answer.Body.String()[5:]
	}
	return ""
}
