package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// collector starts a server that receives the requests of exporters.
func collector(t *testing.T) (url string, sent func() []byte) {
	t.Helper()
	bodies := make(chan []byte, 100)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		bodies <- body
	}))
	t.Cleanup(web.Close)
	return web.URL, func() []byte {
		close(bodies)
		var all []byte
		for body := range bodies {
			all = append(all, body...)
		}
		return all
	}
}

// traced runs a job while spans are exported. The remaining spans are sent when the program
// ends.
func traced(t *testing.T, sent func() []byte, args ...string) {
	t.Helper()
	node := startServe(t, append(args, "--db", sqlitetest.URL(t), "--node-name", "ada")...)
	stored, err := http.Post(node.url+"/api/v1/jobs", "application/json", strings.NewReader(`{"jobs":[{"kind":"noop"}]}`)) //nolint:noctx // the test ends with the program
	if err != nil {
		t.Fatal(err)
	}
	_ = stored.Body.Close()
	watch, err := http.Get(node.url + "/api/v1/jobs/1/watch") //nolint:noctx // as above
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(watch.Body); err != nil { // it ends with the job
		t.Fatal(err)
	}
	_ = watch.Body.Close()
	node.cancel()
	if code := <-node.exit; code != exitOK {
		t.Fatalf("exit %d: %s", code, <-node.log)
	}
	spans := sent()
	for _, want := range []string{"enqueue", "run noop", "service.name", "fairlead", "ada-"} {
		if !bytes.Contains(spans, []byte(want)) {
			t.Errorf("%q was not exported", want)
		}
	}
}

func TestServeExportsTracesToWhereTheFlagSays(t *testing.T) {
	url, sent := collector(t)
	traced(t, sent, "--otlp-endpoint", url)
}

func TestServeExportsTracesToWhereTheEnvironmentSays(t *testing.T) {
	url, sent := collector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	traced(t, sent)
}

func TestTracesAreOffUnlessAskedFor(t *testing.T) {
	nothing := func(string) string { return "" }
	if _, wanted, err := exporterOptions("", nothing); wanted || err != nil {
		t.Errorf("they are on (%v)", err)
	}
	if (&traces{}).provider() != nil {
		t.Error("there is a provider")
	}
	for endpoint, want := range map[string]string{
		"localhost:4318": "absolute", "ftp://localhost": "absolute", "http://ada:hunter2@localhost:4318": "OTEL_EXPORTER_OTLP_HEADERS",
	} {
		_, _, err := exporterOptions(endpoint, nothing)
		if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", endpoint, err)
		}
	}
}
