package server_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
)

// hostileCanaries are confidential values that are written in another way wherever they go.
var hostileCanaries = []string{`canary "quoted" <b>`, "canary\nline\ttab", `canary\back\slash`, "canary of space+plus&more=%41", "canary-münchen-😀"}

// showsCanary reports whether a text shows a canary to a reader who decodes it.
func showsCanary(text string) bool {
	for range 4 {
		if strings.Contains(text, "canary") {
			return true
		}
		if read, err := url.QueryUnescape(text); err == nil {
			text = read
		}
		text = html.UnescapeString(text)
	}
	return false
}

// echo starts a target that repeats the request, and redirects to the URL in the query, if
// any.
func echo(t *testing.T) *httptest.Server {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "/next?"+url.Values{"data": {string(body)}}.Encode())
		w.Header().Set("X-Query", r.URL.RawQuery)
		w.Header().Set("X-Sent", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusFound)
		repeated, _ := json.Marshal(map[string]string{"body": string(body), "url": r.URL.String()})
		_, _ = w.Write(repeated)
	}))
	t.Cleanup(target.Close)
	return target
}

// hostileCalls returns the args of calls with a confidential value in each place. secret is
// that value.
func hostileCalls(target, secret string) map[string]string {
	vars := `,"vars":{"secret":` + secret + `}`
	padding := strings.Repeat("x", 16<<10-len(`{"p":"","s":"`)-5)
	return map[string]string{
		"query":     `{"url":"` + target + `/?q={{args.secret}}"` + vars + `}`,
		"path":      `{"url":"` + target + `/{{args.secret}}/x"` + vars + `}`,
		"form":      `{"url":"` + target + `","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":"a=1&s={{args.secret}}"` + vars + `}`,
		"JSON":      `{"url":"` + target + `","body":{"n":1,"s":"{{args.secret}}"}` + vars + `}`,
		"text":      `{"url":"` + target + `","headers":{"Content-Type":"text/plain"},"body":"it is {{args.secret}}"` + vars + `}`,
		"cut":       `{"url":"` + target + `","body":"{\"p\":\"` + padding + `\",\"s\":\"{{args.secret}}\"}"` + vars + `}`,
		"body":      `{"url":"` + target + `","body":{"n":1,"secret":` + secret + `}}`,
		"form body": `{"url":"` + target + `","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":{"secret":` + secret + `}}`,
	}
}

// world runs calls to an echo, and tells alerts of them.
func newEchoWorld(t *testing.T, fields fairlead.Confidential) (*eraseWorld, *engine.Stepper) {
	w := newEraseWorld(t)
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	mux := fairlead.NewMux()
	mux.Handle(httpcall.Kind, fairlead.HandlerOptions{MaxAttempts: 1}, httpcall.New(httpcall.Options{Guard: guard}))
	stepper, err := engine.NewStepper(t.Context(), w.store, mux)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.AddConfidential(t.Context(), fields); err != nil {
		t.Fatal(err)
	}
	return w, stepper
}

// aboutRun lists the paths that return data of a run of a task.
func aboutRun(task string, job int64) []string {
	paths := []string{"/api/v1/tasks/" + task + "/runs", fmt.Sprintf("/api/v1/runs/%d", job)}
	for _, path := range []string{"", "/attempts", "/explain", "/watch"} {
		paths = append(paths, fmt.Sprintf("/api/v1/jobs/%d%s", job, path))
	}
	return paths
}

// everywhere lists all that is read without a name.
func everywhere() (paths []string) {
	for _, method := range methods() {
		if rule := ruleOf(method); rule != nil && rule.GetGet() != "" && !strings.Contains(rule.GetGet(), "{") && !method.IsStreamingServer() {
			paths = append(paths, rule.GetGet())
		}
	}
	return paths
}

// wantNoCanary reads the paths as every kind of caller with read access.
func (w *eraseWorld) wantNoCanary(paths ...string) {
	w.Helper()
	for _, role := range []access.Role{access.RoleViewer, access.RoleOperator} {
		for _, path := range paths {
			response, err := w.open(w.Context(), "GET", path, "application/json", nil, w.token(role, ""))
			if err != nil {
				w.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil {
				w.Fatal(err)
			}
			if showsCanary(string(text)) {
				at := strings.Index(string(text), "canary")
				w.Errorf("%s shows it to a caller of the role %s: %s", path, role, text[max(0, at-100):min(len(text), max(0, at-100)+300)])
			}
		}
	}
}

func TestNothingOfACallShowsAConfidentialValueInAnotherSpelling(t *testing.T) {
	w, stepper := newEchoWorld(t, fairlead.Confidential{"http": {"args.vars.secret", "args.body.secret"}})
	target := echo(t).URL
	for i, value := range hostileCanaries {
		secret, _ := json.Marshal(value)
		for place, args := range hostileCalls(target, string(secret)) {
			name := fmt.Sprintf("%s-%d", strings.ReplaceAll(place, " ", "-"), i)
			w.send(200, "POST", schedules, `{"name":"`+name+`","cron":"@yearly","job":{"kind":"http","max_attempts":1,"args":`+args+`}}`, w.admin...)
			fired, _ := w.send(200, "POST", schedules+"/"+name+"/trigger", `{}`, w.admin...)
			job, err := stepper.Step(t.Context())
			if err != nil || job == nil || job.State != fairlead.Failed {
				t.Fatalf("%s of %q (%v): %+v, %v", place, value, fired, job, err)
			}
			w.wantNoCanary(aboutRun(name, job.ID)...)
			if t.Failed() {
				t.Fatalf("%q in the %s is shown", value, place)
			}
		}
	}
	w.wantNoCanary(everywhere()...)
}

func TestAConfidentialURLIsNotShownInAnotherSpelling(t *testing.T) {
	target := strings.TrimPrefix(echo(t).URL, "http://")
	for _, address := range []string{
		"http://" + target + "/canary-path", "http://canary-user:canary-pass@" + target + "/", "http://" + target + "/?q=canary-query", "http://" + target + "/?token=canary-token",
		"http://" + target + "/canary path/ü?q=canary value", "http://" + target + "/canary%2Fpath#canary-part", "HTTP://" + target + "/canary-{{run_id}}/x",
		"http://canary-host.invalid/x", "http://127.0.0.1:1/canary-path?q=canary",
	} {
		w, stepper := newEchoWorld(t, fairlead.Confidential{"http": {"args.url"}})
		args, _ := json.Marshal(map[string]string{"url": address})
		w.send(200, "POST", schedules, `{"name":"call","cron":"@yearly","job":{"kind":"http","max_attempts":1,"args":`+string(args)+`}}`, w.admin...)
		w.send(200, "POST", schedules+"/call/trigger", `{}`, w.admin...)
		job, err := stepper.Step(t.Context())
		if err != nil || job == nil {
			t.Fatalf("%s: %+v, %v", address, job, err)
		}
		w.wantNoCanary(append(everywhere(), aboutRun("call", job.ID)...)...)
		if t.Failed() {
			t.Fatalf("%s is shown", address)
		}
	}
}
