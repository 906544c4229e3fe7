package server_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

func TestBrowsersAreToldToBeCareful(t *testing.T) {
	a := newAPI(t)
	for path, status := range map[string]int{"/api/v1/jobs": 200, "/api/v1/nothing": 404} {
		_, header := a.send(status, "GET", path, "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

func TestWithoutTokensOnlyThisMachineIsAnswered(t *testing.T) {
	admin := server.Admin(http.NotFoundHandler(), false)
	for host, want := range map[string]int{
		"localhost": 404, "localhost:80": 404, "127.0.0.1": 404, "127.0.0.1:80": 404, "[::1]:80": 404, "127.9.9.9": 404,
		"example.com": 421, "192.0.2.1": 421, "192.0.2.1:80": 421, "[2001:db8::1]:80": 421, "localhost.example.com": 421, "": 421,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		request.Host = host
		answer := httptest.NewRecorder()
		admin.ServeHTTP(answer, request)
		if answer.Code != want {
			t.Errorf("%s is answered with %d, want %d", host, answer.Code, want)
		}
	}
}

// Profiles are served for operators, without the command line, which may contain passwords.
func TestOperatorsOfTheMachineSeeMetricsAndProfiles(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("jobs 7\n")) })
	hasty, end := context.WithCancel(t.Context())
	end() // what takes time to measure ends at once
	for route, want := range map[string]struct {
		status int
		text   string
	}{
		"GET /metrics":              {200, "jobs 7"},
		"GET /debug/pprof/":         {200, "goroutine"},
		"GET /debug/pprof/heap":     {200, ""},
		"GET /debug/pprof/profile":  {200, ""},
		"GET /debug/pprof/trace":    {200, ""},
		"GET /debug/pprof/symbol":   {200, "num_symbols: 1"},
		"POST /debug/pprof/symbol":  {200, "num_symbols: 1"},
		"GET /debug/pprof/cmdline":  {404, ""},
		"POST /metrics":             {405, ""},
		"GET /api/v1/jobs":          {404, ""},
		"POST /debug/pprof/profile": {405, ""},
	} {
		verb, path, _ := strings.Cut(route, " ")
		for _, anyHost := range []bool{true, false} {
			request := httptest.NewRequestWithContext(hasty, verb, path, nil)
			request.Host = map[bool]string{true: "example.com", false: "localhost"}[anyHost]
			answer := httptest.NewRecorder()
			server.Admin(metrics, anyHost).ServeHTTP(answer, request)
			if answer.Code != want.status || !strings.Contains(answer.Body.String(), want.text) {
				t.Errorf("%s: %d %.100q, want %v", route, answer.Code, answer.Body, want)
			}
		}
	}
}

func TestEveryVersionOfHTTPIsSpoken(t *testing.T) {
	spoken := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Proto)) })
	certified := httptest.NewTLSServer(nil) // for its certificate
	defer certified.Close()
	for name, c := range map[string]struct {
		choose func(*http.Protocols)
		scheme string
		want   string
	}{
		"HTTP/1":                {func(p *http.Protocols) { p.SetHTTP1(true) }, "http", "HTTP/1.1"},
		"HTTP/2 without TLS":    {func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, "http", "HTTP/2.0"},
		"HTTP/1 with TLS":       {func(p *http.Protocols) { p.SetHTTP1(true) }, "https", "HTTP/1.1"},
		"HTTP/2 with TLS":       {func(p *http.Protocols) { p.SetHTTP2(true) }, "https", "HTTP/2.0"},
		"the best of both, TLS": {func(p *http.Protocols) { p.SetHTTP1(true); p.SetHTTP2(true) }, "https", "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			web, served := server.Web(spoken), make(chan error, 1)
			if c.scheme == "https" {
				web.TLSConfig = &tls.Config{Certificates: certified.TLS.Certificates}
				go func() { served <- web.ServeTLS(listener, "", "") }()
			} else {
				go func() { served <- web.Serve(listener) }()
			}
			transport := certified.Client().Transport.(*http.Transport).Clone()
			transport.Protocols = new(http.Protocols)
			c.choose(transport.Protocols)
			a := &api{TB: t, url: c.scheme + "://" + listener.Addr().String()}
			if got := a.readWith(&http.Client{Transport: transport}); got != c.want {
				t.Errorf("it speaks %s, want %s", got, c.want)
			}
			_ = web.Close()
			<-served
			transport.CloseIdleConnections()
		})
	}
}

// readWith returns the response to a client's request for the root.
func (a *api) readWith(client *http.Client) string {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), http.MethodGet, a.url, nil)
	if err != nil {
		a.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		a.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	if err := response.Write(&text); err != nil {
		a.Fatal(err)
	}
	_, body, _ := strings.Cut(text.String(), "\r\n\r\n")
	return strings.TrimSpace(body)
}

func TestAMethodThatDoesNotExistIsNotFound(t *testing.T) {
	a := newGuardedAPI(t)
	for _, path := range []string{"/fairlead.v1.JobService/Nothing", "/fairlead.v1.JobService/", "/fairlead.v1.NoService/GetJob", "/batch_scheduler.BatchSchedulerService/Nothing"} {
		for _, kind := range []string{"application/json", "application/grpc", "application/connect+proto"} {
			if got := a.heard(t, "POST", path, kind, []byte("{}"), a.token(access.RoleAdmin, "")); got != hidden {
				t.Errorf("%s as %s: %s", path, kind, got)
			}
		}
	}
}
