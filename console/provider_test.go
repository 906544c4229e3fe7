package console

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The reason why a provider refused a sign-in comes from the browser, so anyone can choose it.
func TestTheReasonOfARefusedSignInIsLoggedBrieflyAndQuoted(t *testing.T) {
	r := newRig(t, true, nil)
	var out bytes.Buffer
	r.console.options.Log = slog.New(slog.NewJSONHandler(&out, nil))
	pending, err := json.Marshal(pendingSignIn{State: "s", Verifier: "v"})
	if err != nil {
		t.Fatal(err)
	}
	for reason, want := range map[string]string{
		"access_denied":                   `"access_denied"`,
		"denied\n\x1b[31mlevel=ERROR x":   `"denied\n\x1b[31mlevel=ERROR x"`,
		strings.Repeat("é", 60_000):       `"` + strings.Repeat("é", 100) + `"`,
		"\u202ereversed\u0007 and a bell": `"\u202ereversed\a and a bell"`,
	} {
		out.Reset()
		request := httptest.NewRequest(http.MethodGet, callbackPath+"?state=s&error="+url.QueryEscape(reason), nil)
		request.AddCookie(&http.Cookie{Name: signInCookie, Value: base64.RawURLEncoding.EncodeToString(pending)})
		answer := httptest.NewRecorder()
		r.console.backFromProvider(answer, request)
		var line struct{ Error string }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Error != want || answer.Code != http.StatusForbidden {
			t.Errorf("%.40q: status %d, logged %.300q (%v)", reason, answer.Code, line.Error, err)
		}
	}
}
