package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestAForeignHostIsMisdirectedByEveryPage(t *testing.T) {
	r := newRig(t, false, nil)
	for _, path := range []string{"/", "/jobs", "/jobs/1", "/login", "/find?q=1", "/nowhere", "/new/schedule", "POST /login", "POST /queues/mail/pause"} {
		method, where, both := strings.Cut(path, " ")
		if !both {
			method, where = http.MethodGet, path
		}
		form := url.Values{"token": {"fl_x"}}
		request := httptest.NewRequestWithContext(t.Context(), method, where, strings.NewReader(form.Encode()))
		request.Host = "evil.example"
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		r.api.ServeHTTP(answer, request)
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.Code != http.StatusMisdirectedRequest || !strings.Contains(string(body), "localhost") {
			t.Errorf("%s: %d, %v: %.400s", path, answer.Code, err, body)
		}
	}
}
