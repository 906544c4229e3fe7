package httpcall_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/httpcall"
)

const hush = `p"ss wörd&1`

// secrets lists a variable and a file that hold the same secret.
func secrets(t *testing.T) (listed *httpcall.Secrets, file string) {
	t.Helper()
	t.Setenv("CALL_SECRET", hush)
	t.Setenv("CALL_EMPTY", "")
	file = filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(hush+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listed, err := httpcall.NewSecrets([]string{"env:CALL_SECRET", "env:CALL_EMPTY", "file:" + file, "file:" + file + ".gone"})
	if err != nil {
		t.Fatal(err)
	}
	return listed, file
}

func TestSecretsReachTheTargetAndNothingElse(t *testing.T) {
	listed, file := secrets(t)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var sent struct{ Pass, Ref string }
		if err := json.Unmarshal(body, &sent); err != nil || sent.Pass != hush || sent.Ref != "{{" {
			t.Errorf("body %s: %v", body, err)
		}
		if got := r.URL.Query().Get("q"); got != hush {
			t.Errorf("query %q", got)
		}
		if got := r.Header.Get("X-Pass"); got != "is "+hush {
			t.Errorf("header %q", got)
		}
		// A target may repeat all it was sent.
		w.Header().Set("X-Query", r.URL.RawQuery)
		w.Header().Set("X-Echo", r.Header.Get("X-Pass"))
		w.Header().Set("Set-Cookie", "session=hunter2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "you said "+hush+" as "+r.Header.Get("Authorization")+" in ")
		_, _ = w.Write(body)
	}))
	defer target.Close()
	run, err := workWith(t, httpcall.Options{Guard: local(t), Secrets: listed}, httpcall.Call{
		URL:     strings.Replace(target.URL, "http://", "http://ada:hunter2@", 1) + "/hook?q=${env:CALL_SECRET}&api_key=hunter2&page=3",
		Headers: map[string]string{"X-Pass": "is ${file:" + file + "}", "Cookie": "hunter2"},
		Body:    json.RawMessage(`{"pass":"${env:CALL_SECRET}","ref":"{{braces}}"}`),
	})
	if !fatal(err) || !strings.HasPrefix(err.Error(), "status: ") {
		t.Errorf("got %v", err)
	}
	kept := string(run.progress) + err.Error()
	for _, secret := range []string{hush, `p\"ss`, "p%22ss", "hunter2", "YWRhOmh1bnRlcjI"} {
		if strings.Contains(kept, secret) {
			t.Errorf("%s is in %s", secret, kept)
		}
	}
	snapshot := run.snapshot(t)
	if want := target.URL + "/hook?q=***&api_key=***&page=3"; snapshot.Request.URL != want {
		t.Errorf("the URL is kept as %s, want %s", snapshot.Request.URL, want)
	}
	if snapshot.Request.Body != `{"pass":"***","ref":"{{"}` || snapshot.Request.Headers["X-Pass"] != "is ***" || snapshot.Request.Headers["Cookie"] != "***" {
		t.Errorf("the request is kept as %+v", snapshot.Request)
	}
	if got := snapshot.Response; !strings.HasPrefix(got.Body, "you said *** as *** in {") && !strings.HasPrefix(got.Body, "you said *** as Basic *** in {") {
		t.Errorf("the answer is kept as %+v", got)
	}
}

func TestOnlyListedSecretsCanBeReferredTo(t *testing.T) {
	listed, file := secrets(t)
	t.Setenv("CALL_OTHER", "other")
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was called") }))
	defer target.Close()
	options := httpcall.Options{Guard: local(t), Secrets: listed}
	for ref, want := range map[string]struct {
		text  string
		final bool
	}{
		"env:CALL_OTHER":   {"--allow-secret env:CALL_OTHER", true},
		"env:PATH":         {"--allow-secret env:PATH", true},
		"file:/etc/passwd": {"--allow-secret file:/etc/passwd", true},
		"file:" + filepath.Dir(file) + "/./secret": {"--allow-secret", true},
		"env:CALL_EMPTY":         {"is empty on this node", false},
		"file:" + file + ".gone": {"cannot read", false},
	} {
		call := httpcall.Call{URL: target.URL, Headers: map[string]string{"X": "${" + ref + "}"}}
		_, err := workWith(t, options, call)
		if err == nil || fatal(err) != want.final || !strings.Contains(err.Error(), want.text) || !strings.Contains(err.Error(), "args.headers.X") {
			t.Errorf("%s: got %v", ref, err)
		}
		args, problem := json.Marshal(call)
		if problem != nil {
			t.Fatal(problem)
		}
		if err := httpcall.New(options).Validate(args); (err != nil) != want.final {
			t.Errorf("%s: written: %v", ref, err)
		}
	}
	for _, bad := range []string{"", "NAME", "env:", "env:A B", "file:", "vault:x", "${env:A}"} {
		if _, err := httpcall.NewSecrets([]string{bad}); err == nil {
			t.Errorf("%q was listed", bad)
		}
	}
}

func TestOfLongAnswersTheBeginningIsKeptWithoutHalfASecret(t *testing.T) {
	listed, _ := secrets(t)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(hush, 200_000/len(hush)))
	}))
	defer target.Close()
	run, err := workWith(t, httpcall.Options{Guard: local(t), Secrets: listed}, httpcall.Call{
		URL: target.URL, Headers: map[string]string{"X": "${env:CALL_SECRET}"}, Body: json.RawMessage(`"` + strings.Repeat("ö", 20_000) + `"`),
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := run.snapshot(t)
	if strings.Trim(kept.Response.Body, "*") != "" || !kept.Response.Truncated || len(kept.Response.Body) > 16<<10 {
		t.Errorf("kept %d bytes of the answer, ending in %q", len(kept.Response.Body), kept.Response.Body[len(kept.Response.Body)-20:])
	}
	if len(kept.Request.Body) != 16<<10 || !kept.Request.Truncated || strings.Trim(kept.Request.Body, "ö") != "" {
		t.Errorf("kept %d bytes of the request", len(kept.Request.Body))
	}
}
