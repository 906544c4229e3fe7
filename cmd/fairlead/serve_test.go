package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// served is the real program with serve running.
type served struct {
	url    string
	cancel context.CancelFunc
	exit   chan int
	log    chan string // the rest of what it wrote
}

func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	s := &served{cancel: cancel, exit: make(chan int, 1), log: make(chan string, 1)}
	go func() {
		s.exit <- run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), io.Discard, writer)
		writer.Close()
	}()
	lines := bufio.NewReader(reader)
	for s.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("serve ended before it served: exit %d", <-s.exit)
		}
		if m := regexp.MustCompile(`url=(https?://\S+)`).FindStringSubmatch(line); m != nil {
			s.url = m[1]
		}
	}
	go func() {
		rest, _ := io.ReadAll(lines)
		s.log <- string(rest)
	}()
	t.Cleanup(cancel)
	return s
}

func (s *served) status(t *testing.T, path string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestServeRunsTheBuiltinKindsAndDrains(t *testing.T) {
	called := make(chan string, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called <- r.Header.Get("Fairlead-Job") }))
	defer target.Close()
	db := sqlitetest.URL(t)
	node := startServe(t, "--db", db, "--poll", "20ms")

	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	client := fairlead.NewClient(store)
	args, err := json.Marshal(map[string]string{"url": target.URL})
	if err != nil {
		t.Fatal(err)
	}
	noop, call := &fairlead.Job{Kind: "noop"}, &fairlead.Job{Kind: "http", Args: args}
	if err := client.Enqueue(t.Context(), noop, call); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	for _, job := range []*fairlead.Job{noop, call} {
		done, err := client.Wait(ctx, job.ID)
		if err != nil || done.State != fairlead.Succeeded {
			t.Errorf("%s: %v %+v", job.Kind, err, done)
		}
	}
	if id := <-called; id == "" {
		t.Error("the target was not told the job")
	}
	if live, ready := node.status(t, "/livez"), node.status(t, "/readyz"); live != 200 || ready != 200 {
		t.Errorf("livez %d, readyz %d", live, ready)
	}
	node.cancel()
	if code := <-node.exit; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if log := <-node.log; !strings.Contains(log, "left") {
		t.Errorf("it did not leave the cluster:\n%s", log)
	}
}

func TestServeRefusesWhatIsNotSafeOrNotUnderstood(t *testing.T) {
	shortToken := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(shortToken, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"authentication is off":             {"--addr", "0.0.0.0:7717", "--db", "sqlite://:memory:"},
		"must be set together":              {"--tls-cert", "cert.pem"},
		"at least 32":                       {"--token-file", shortToken, "--db", "sqlite://:memory:"},
		"sqlite://, postgres://":            {"--db", "oracle://x"},
		"allow-target":                      {"--allow-target", "https://everything", "--db", "sqlite://:memory:"},
		"allow-secret":                      {"--allow-secret", "TOKEN", "--db", "sqlite://:memory:"},
		"target-max-running":                {"--target-max-running", "-1", "--db", "sqlite://:memory:"},
		"public-url":                        {"--public-url", "fairlead.example.org"},
		"log-level":                         {"--log-level", "loud"},
		"request-timeout -1s":               {"--request-timeout", "-1s", "--db", "sqlite://:memory:"},
		"requires --oidc-issuer":            {"--oidc-audience", "fairlead", "--db", "sqlite://:memory:"},
		"at least 1ms":                      {"--beat", "1us", "--db", "sqlite://:memory:"},
		"at least 10ms":                     {"--lease", "9ms", "--beat", "1ms", "--db", "sqlite://:memory:"},
		"--queue-size: is -1":               {"--queue-size", "-1", "--db", "sqlite://:memory:"},
		"--max-sweeps: is -1":               {"--max-sweeps", "-1", "--db", "sqlite://:memory:"},
		"--claim-batch: is -1":              {"--claim-batch", "-1", "--db", "sqlite://:memory:"},
		"--blocking-count-limit":            {"--blocking-count-limit", "-1", "--db", "sqlite://:memory:"},
		"--drain-timeout: is":               {"--drain-timeout", "-1s", "--db", "sqlite://:memory:"},
		`--queue: contains queue "a" twice`: {"--queue", "a", "--queue", "a", "--db", "sqlite://:memory:"},
		"three beats":                       {"--lease", "1s", "--beat", "1s", "--db", "sqlite://:memory:"},
		"takes no argument":                 {"now"},
	} {
		var stderr strings.Builder
		if code := run(t.Context(), append([]string{"serve"}, args...), io.Discard, &stderr); code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: exit %d, %s", args, code, stderr.String())
		}
	}
}

func TestMigrateShowsAndAppliesTheSchema(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "jobs.db")
	migrate := func(verb string) string {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), []string{"migrate", verb, "--db", db}, &stdout, &stderr); code != exitOK {
			t.Fatalf("%s: exit %d: %s", verb, code, stderr.String())
		}
		return stdout.String()
	}
	for _, step := range []struct{ verb, want string }{
		{"status", "pending: 0001_core"}, {"print", "create table"}, {"up", "up to date"}, {"status", "up to date"}, {"up", "up to date"},
	} {
		if got := migrate(step.verb); !strings.Contains(got, step.want) {
			t.Errorf("%s: got %q, want %q in it", step.verb, got, step.want)
		}
	}
}

// A caller that watches a job does not keep the program from ending.
func TestServeEndsThoughAJobIsWatched(t *testing.T) {
	node := startServe(t, "--db", sqlitetest.URL(t))
	stored, err := http.Post(node.url+"/api/v1/jobs", "application/json", strings.NewReader(`{"jobs":[{"kind":"noop","not_before":"2100-01-01T00:00:00Z"}]}`)) //nolint:noctx // the test ends with the program
	if err != nil {
		t.Fatal(err)
	}
	_ = stored.Body.Close()
	watch, err := http.Get(node.url + "/api/v1/jobs/1/watch") //nolint:noctx // as above
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	node.cancel()
	if code := <-node.exit; code != 0 {
		t.Errorf("exit %d: %s", code, <-node.log)
	}
	if _, err := io.ReadAll(watch.Body); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
}
