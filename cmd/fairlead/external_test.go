package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// send makes a request with JSON and reads the answer.
func (s *served) send(t *testing.T, verb, path, body string) map[string]any {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), verb, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s: %s %s %v", verb, path, response.Status, raw, err)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// finished waits until a job has ended.
func (s *served) finished(t *testing.T, id string) map[string]any {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < patience.Limit; <-time.After(20 * time.Millisecond) {
		if job := s.send(t, "GET", "/api/v1/jobs/"+id, ""); fairlead.State(job["state"].(string)).Final() {
			return job
		}
	}
	t.Fatalf("job %s has not ended", id)
	return nil
}

// The service in Python that the documentation shows does a job.
func TestThePythonServiceOfTheDocumentationWorks(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	text, err := os.ReadFile("../../docs/external.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/external.md has no Python in it")
	}
	script := filepath.Join(t.TempDir(), "service.py")
	if err := os.WriteFile(script, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	node.send(t, "POST", "/api/v1/tenants", `{"name":"acme"}`)
	key := node.send(t, "GET", "/api/v1/tenants/acme/signing_key", "")["signing_key"].(string)
	url := startPython(t, script, key)
	node.send(t, "PUT", "/api/v1/tenants/acme", `{"start_url":"`+url+`/jobs"}`)
	ids := node.send(t, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"external","tenant":"acme","args":{"order":7}}]}`)["ids"].([]any)
	job := node.finished(t, ids[0].(string))
	if output, _ := json.Marshal(job["output"]); job["state"] != "succeeded" || string(output) != `{"worked_on":{"order":7}}` {
		t.Errorf("it ended as %v with %s: %v", job["state"], output, job["error"])
	}
	forged, err := http.Post(url, "application/json", strings.NewReader(`{}`)) //nolint:noctx // the script ends with the test
	if err != nil {
		t.Fatal(err)
	}
	_ = forged.Body.Close()
	if forged.StatusCode != http.StatusForbidden {
		t.Errorf("what is not signed is answered %s", forged.Status)
	}
}

// startPython runs the service until the test ends and returns its URL.
func startPython(t *testing.T, script, key string) string {
	t.Helper()
	var complaints bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	service := exec.CommandContext(ctx, "python3", script)
	service.Env = append(os.Environ(), "FAIRLEAD_SIGNING_KEY="+key, "PORT=0")
	service.Stderr = &complaints
	out, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	t.Cleanup(func() {
		cancel()
		_ = service.Wait() // it was ended
	})
	if err != nil {
		cancel()
		_ = service.Wait()
		t.Fatalf("the service did not start: %s", complaints.String())
	}
	return strings.TrimSpace(line)
}

// A node that serves one queue only delivers notices all the same.
func TestServeTellsOfFailuresWhateverQueueItServes(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer target.Close()
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms", "--queue", "mail", "--public-url", "https://fairlead.example.org")
	node.send(t, "POST", "/api/v1/tenants", `{"name":"acme","fail_url":"`+target.URL+`"}`)
	ids := node.send(t, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"external","tenant":"acme","queue":"mail"}]}`)["ids"].([]any)
	select {
	case body := <-told:
		if !strings.Contains(body, `"event":"failed","id":"`+ids[0].(string)+`"`) || !strings.Contains(body, "start_url") {
			t.Errorf("told %s", body)
		}
	case <-time.After(patience.Limit):
		t.Error("no notice came")
	}
}
