package server_test

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// A browser that has reached the server by TLS comes back by TLS only. Elsewhere the header
// would promise what this server cannot keep, and for localhost it would bind the other servers
// of a developer's machine.
func TestBrowsersAreToldToUseTLSWhereTheServerSpeaksIt(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	service, err := server.New(node(true), store, server.Options{
		Version: "test", Log: slog.New(slog.DiscardHandler), Auth: server.Auth{Required: true}, Console: func(http.Handler) (http.Handler, error) { return pages, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host string
		tls  *tls.ConnectionState
		want string
	}{
		{"jobs.example.org", &tls.ConnectionState{}, "max-age=31536000"},
		{"jobs.example.org:7717", &tls.ConnectionState{}, "max-age=31536000"},
		{"jobs.example.org", nil, ""},
		{"localhost:7717", &tls.ConnectionState{}, ""},
		{"127.0.0.1:7717", &tls.ConnectionState{}, ""},
	} {
		for path, kind := range map[string]string{
			"/": "", "/api/v1/jobs": "", "/docs": "", "/readyz": "", "/fairlead.v1.JobService/GetJob": "application/json", "/fairlead.v1.JobService/ListJobs": "application/grpc",
		} {
			method := http.MethodGet
			if kind != "" {
				method = http.MethodPost
			}
			request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}"))
			request.Host, request.TLS = c.host, c.tls
			request.Header.Set("Content-Type", kind)
			answer := httptest.NewRecorder()
			service.ServeHTTP(answer, request)
			if got := answer.Header().Get("Strict-Transport-Security"); got != c.want {
				t.Errorf("%s of %s: %q, want %q", path, c.host, got, c.want)
			}
		}
	}
}
