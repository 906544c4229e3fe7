package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/await"
)

func TestAReadyNodeIsReported(t *testing.T) {
	r := newRig(t)
	_, err := await.Until(t.Context(), func(ctx context.Context) (string, bool, error) {
		stdout, _, code := run(ctx, nil, "ready", "--server", r.url)
		return stdout, code == ExitOK && stdout == "ready\n", nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestANodeThatIsNotReadyHasAnExitCodeAndAReason(t *testing.T) {
	alone(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			http.Error(w, "the node is starting\x1b[2J", http.StatusServiceUnavailable)
		}
	}))
	defer web.Close()
	_, stderr, code := run(t.Context(), nil, "ready", "--server", web.URL)
	if code != ExitUnavailable || !strings.Contains(stderr, "is not ready: the node is starting") || strings.Contains(stderr, "\x1b") {
		t.Errorf("exit %d: %q", code, stderr)
	}
	if _, stderr, code := run(t.Context(), nil, "ready", "--server", "http://127.0.0.1:1"); code != ExitUnavailable {
		t.Errorf("exit %d: %q", code, stderr)
	}
}

func TestTheVersionHasTheCommit(t *testing.T) {
	build := Build{Version: "v1.2.3", Commit: "0123abc", Go: "go1.26", OS: "linux", Arch: "arm64"}
	if got := printed(t, build); got != "fairlead v1.2.3 commit 0123abc go1.26 linux/arm64\n" {
		t.Error(got)
	}
	var parsed Build
	if err := json.Unmarshal([]byte(printed(t, build, "-o", "json")), &parsed); err != nil || parsed != build {
		t.Error(parsed, err)
	}
	if got := printed(t, Build{Version: "(devel)"}); !strings.Contains(got, "commit unknown ") {
		t.Error(got)
	}
}

func printed(t *testing.T, build Build, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := VersionCommand(build)
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
