package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// strict starts a server that requires a token and returns nothing else.
func strict(t *testing.T, token string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		status, body := http.StatusUnauthorized, `{"code":"unauthenticated","message":"the token is not known"}`
		if r.Header.Get("Authorization") == "Bearer "+token {
			status, body = http.StatusForbidden, `{"code":"permission_denied","message":"this needs the role admin"}`
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestTokensComeFromWhereTheyAreGiven(t *testing.T) {
	alone(t)
	url := strict(t, "right")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(want string, args ...string) {
		t.Helper()
		_, stderr, code := run(t.Context(), nil, append([]string{"token", "list"}, args...)...)
		if code != ExitAuth || !strings.Contains(stderr, want) || strings.Contains(stderr, "right") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	known, unknown := "needs the role admin", "the token is not known; set a valid token with FAIRLEAD_TOKEN"
	ask(unknown, "--server", url)
	ask(known, "--server", url, "--token", "right")
	ask(known, "--server", url, "--token-file", file)
	t.Setenv("FAIRLEAD_SERVER", url)
	t.Setenv("FAIRLEAD_TOKEN", "right")
	ask(known)
	ask(unknown, "--token", "wrong")
	t.Setenv("FAIRLEAD_TOKEN", "")
	t.Setenv("FAIRLEAD_TOKEN_FILE", file)
	ask(known)
}

func TestATokenFileThatAllUsersCanReadIsWarnedAbout(t *testing.T) {
	alone(t)
	url := strict(t, "right")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o602: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, stderr, _ := run(t.Context(), nil, "token", "list", "--server", url, "--token-file", file)
		if got := strings.Contains(stderr, file) && strings.Contains(stderr, "chmod 600"); got != warned || strings.Contains(stderr, "right") {
			t.Errorf("mode %v: %s", mode, stderr)
		}
	}
}

func TestContextsNameServers(t *testing.T) {
	alone(t)
	url := strict(t, "right")
	context := func(want int, text string, args ...string) {
		t.Helper()
		stdout, stderr, code := run(t.Context(), strings.NewReader("right\n"), append([]string{"context"}, args...)...)
		if code != want || !strings.Contains(stdout+stderr, text) || strings.Contains(stdout+stderr, "right") {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
	ask := func(want int, text string, args ...string) {
		t.Helper()
		if _, stderr, code := run(t.Context(), nil, append([]string{"token", "list"}, args...)...); code != want || !strings.Contains(stderr, text) {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	context(ExitOK, "context prod saved", "set", "prod", "--server", url, "--token", "-")
	context(ExitOK, "context bare saved", "set", "bare", "--server", url)
	context(ExitOK, "set    yes", "list")
	context(ExitOK, `"current":true`, "list", "-o", "json")
	ask(ExitAuth, "needs the role admin")
	ask(ExitAuth, "is not known", "--context", "bare")
	ask(ExitAuth, "is not known", "--server", url) // a context's token is sent to no other server
	ask(ExitUsage, `context "nowhere" does not exist`, "--context", "nowhere")
	ask(ExitUsage, "not both", "--context", "prod", "--server", url)
	context(ExitOK, "context bare is now current", "use", "bare")
	ask(ExitAuth, "is not known")
	context(ExitNotFound, `context "nowhere" does not exist`, "use", "nowhere")
	context(ExitUsage, "such as http", "set", "x", "--server", "localhost:1")
	context(ExitUsage, "must not contain a user", "set", "x", "--server", "http://me:pw@localhost")
	context(ExitUsage, "copy it again", "set", "x", "--token", "ri ght")
	context(ExitOK, "context bare deleted", "delete", "bare")
	context(ExitNotFound, `context "bare" does not exist`, "delete", "bare")
}

func TestTheFileOfContextsIsPrivate(t *testing.T) {
	alone(t)
	if _, stderr, code := run(t.Context(), nil, "context", "set", "prod", "--token", "secret"); code != ExitOK {
		t.Fatal(stderr)
	}
	path, err := contextsPath()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, mode %v", err, info.Mode())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, _ := run(t.Context(), nil, "context", "list"); !strings.Contains(stderr, "chmod 600") {
		t.Errorf("there is no warning: %q", stderr)
	}
	if err := os.WriteFile(path, []byte("token: [secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t.Context(), nil, "context", "list"); code != ExitUsage || strings.Contains(stderr, "secret") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
