package callbacks

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/server/internal/audit"
)

// keyless is a store that has lost its secrets.
type keyless struct{ driver.Store }

func (keyless) Secret(context.Context, string) ([]byte, error) {
	return nil, errors.New("disk on fire")
}

func TestACallbackThatFailsHereIsLoggedAndOneThatIsRefusedIsNot(t *testing.T) {
	for token, want := range map[string]struct {
		status   int
		isLogged bool
	}{"Bearer any": {500, true}, "": {401, false}} {
		var log bytes.Buffer
		mux := http.NewServeMux()
		mux.Handle("POST /callbacks/{job}", New(keyless{}, func(...*fairlead.Job) {}, audit.NewSums(), slog.New(slog.NewTextHandler(&log, nil))))
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/callbacks/7", strings.NewReader(`{}`))
		request.Header.Set("Authorization", token)
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, request)
		if isLogged := strings.Contains(log.String(), "disk on fire"); answer.Code != want.status || isLogged != want.isLogged || strings.Contains(answer.Body.String(), "fire") {
			t.Errorf("%q is answered with %d %s, and logged as %q", token, answer.Code, answer.Body, log.String())
		}
		if asks := answer.Header().Get("WWW-Authenticate") != ""; asks != (want.status == 401) {
			t.Errorf("%q is answered with %v", token, answer.Header())
		}
	}
}
