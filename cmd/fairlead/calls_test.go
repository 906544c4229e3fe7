package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// The examples of docs/http.md are what the program really answers.
func TestTheExamplesOfHTTPCallsAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	called := make(chan string, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		called <- r.URL.Path + " " + string(body)
	}))
	defer target.Close()
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	runExamples(t, "../../docs/http.md", 3, node.url, "TARGET="+target.URL)
	node.finished(t, "1")
	if got := <-called; got != `/orders/1 {"attempt":"1"}` {
		t.Errorf("the target got %s", got)
	}
}

func TestServedCallsUseListedSecretsAndShowNone(t *testing.T) {
	t.Setenv("SERVE_TEST_SECRET", "hunter2")
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[bool]int{true: http.StatusForbidden, false: http.StatusUnauthorized}[r.Header.Get("Authorization") == "Bearer hunter2"])
		_, _ = io.WriteString(w, "no access for hunter2")
	}))
	defer target.Close()
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms", "--allow-secret", "env:SERVE_TEST_SECRET", "--log-level", "debug")
	job := func(name string) string {
		return fmt.Sprintf(`{"jobs":[{"kind":"http","args":{"url":%q,"headers":{"Authorization":"Bearer ${env:%s}"}}}]}`, target.URL, name)
	}
	ids := node.send(t, "POST", "/api/v1/jobs", job("SERVE_TEST_SECRET"))["ids"].([]any)
	done := node.finished(t, ids[0].(string))
	raw, err := json.Marshal(done)
	if err != nil {
		t.Fatal(err)
	}
	shown := string(raw)
	if done["state"] != "failed" || !strings.Contains(shown, "responded with 403 Forbidden") || !strings.Contains(shown, "no access for ***") {
		t.Errorf("the job is %s", shown)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, node.url+"/api/v1/jobs", strings.NewReader(job("PATH")))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if problem, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusBadRequest || !strings.Contains(string(problem), "jobs[0].args.headers.Authorization") || !strings.Contains(string(problem), "--allow-secret env:PATH") {
		t.Errorf("a secret that is not listed: %d %s", response.StatusCode, problem)
	}
	node.cancel()
	<-node.exit
	if log := <-node.log; strings.Contains(shown+log, "hunter2") {
		t.Errorf("the secret is in the answer or the log:\n%s\n%s", shown, log)
	}
}

func TestATargetThatIsLeftAloneIsListedWithoutItsPath(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer target.Close()
	address := strings.TrimPrefix(target.URL, "http://")
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms", "--target-max-failures", "1")
	url := "http://ann:hunter2@" + address + "/orders?token=hunter3"
	ids := node.send(t, "POST", "/api/v1/jobs", fmt.Sprintf(`{"jobs":[{"kind":"http","max_attempts":1,"args":{"url":%q}}]}`, url))["ids"].([]any)
	node.finished(t, ids[0].(string))
	raw, err := json.Marshal(node.send(t, "GET", "/api/v1/breakers", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); !strings.Contains(got, `"address":"`+address+`"`) || !strings.Contains(got, `"failures":1`) || strings.Contains(got, "hunter") || strings.Contains(got, "orders") {
		t.Errorf("listed is %s", got)
	}
}
