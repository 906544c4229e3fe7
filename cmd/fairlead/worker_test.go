package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// exampleWorker is a worker of the examples as a process.
type exampleWorker struct {
	*exec.Cmd
	lines *bufio.Reader
}

func startPythonWorker(t *testing.T, script, url string) *exampleWorker {
	t.Helper()
	return startWorker(t, "python3", "-B", "../../examples/"+script, url)
}

// startWorker starts a program and waits until it has joined.
func startWorker(t *testing.T, program string, args ...string) *exampleWorker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &exampleWorker{Cmd: cmd, lines: bufio.NewReader(out)}
	w.says(t, "joined")
	return w
}

// says waits until the worker has written a line that begins so.
func (w *exampleWorker) says(t *testing.T, prefix string) {
	t.Helper()
	for {
		line, err := w.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the worker ended before it said %q", prefix)
		}
		if strings.HasPrefix(line, prefix) {
			return
		}
	}
}

func (w *exampleWorker) end(t *testing.T, with os.Signal) error {
	t.Helper()
	if err := w.Process.Signal(with); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, w.lines)
	return w.Wait()
}

func (s *served) json(t *testing.T, verb, path, body string) (answer map[string]any) {
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
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != 200 {
		t.Fatalf("%s %s: %d %v (%v)", verb, path, response.StatusCode, answer, err)
	}
	return answer
}

// enqueue stores a job of the kind "count" and returns its path.
func (s *served) enqueue(t *testing.T, fields string) string {
	t.Helper()
	answer := s.json(t, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"count",`+fields+`}]}`)
	return "/api/v1/jobs/" + answer["ids"].([]any)[0].(string)
}

// final watches a job until it is final.
func (s *served) final(t *testing.T, path string) (job map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if data, event := strings.CutPrefix(lines.Text(), "data: "); event {
			job = nil
			if err := json.Unmarshal([]byte(data), &job); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("%s does not end: %v", path, job)
	}
	return job
}

// A worker in another language, with nothing but its standard library.
func TestThePythonWorkerRunsJobs(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	testWorkerOfExamples(t, func(url string) *exampleWorker { return startPythonWorker(t, "worker.py", url) })
}

func TestTheTypeScriptWorkerRunsJobs(t *testing.T) {
	t.Parallel()
	program := typeScriptWorker(t)
	testWorkerOfExamples(t, func(url string) *exampleWorker { return startWorker(t, "node", program, url) })
}

// typeScriptWorker returns the file of the worker for Node.js: the worker itself if this
// version of Node.js erases types, and otherwise a copy without types.
func typeScriptWorker(t *testing.T) string {
	t.Helper()
	const source = "../../examples/worker.mts"
	need(t, "node")
	erases, err := exec.CommandContext(t.Context(), "node", "-p", "process.features.typescript === 'strip'").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(erases)) == "true" {
		return source
	}
	plain := filepath.Join(t.TempDir(), "worker.mjs")
	erase := exec.CommandContext(t.Context(), "go", "tool", "-modfile=../../tools/typescript/go.mod", "esbuild", source, "--outfile="+plain)
	if out, err := erase.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return plain
}

// testWorkerOfExamples tests a worker that counts: it runs jobs, is asked to stop one, is
// killed in the second tier, and leaves.
func testWorkerOfExamples(t *testing.T, start func(url string) *exampleWorker) {
	t.Helper()
	kills, lease := tier.Size(t, false, true, "kills a worker and waits for its lease to end"), "1m"
	if kills {
		lease = "1s"
	}
	node := startServe(t, "--db", sqlitetest.URL(t), "--beat", "200ms", "--lease", lease, "--poll", "20ms")
	first := start(node.url)

	good := node.enqueue(t, `"args":{"to":3,"pause":0.01}`)
	bad := node.enqueue(t, `"args":{"fail":"no paper"},"max_attempts":2,"retry":{"base":"1ms","factor":1}`)
	fatal := node.enqueue(t, `"args":{"fatal":"no printer"}`)
	if job := node.final(t, good); job["state"] != "succeeded" || job["output"].(map[string]any)["counted"] != 3.0 || job["progress"].(map[string]any)["counted"] != 3.0 {
		t.Errorf("the good one is %v", job)
	}
	if job := node.final(t, bad); job["state"] != "failed" || job["error"] != "no paper" || job["attempt"] != 2.0 {
		t.Errorf("the bad one is %v", job)
	}
	if job := node.final(t, fatal); job["state"] != "failed" || job["reason"] != "fatal" || job["attempt"] != 1.0 {
		t.Errorf("the fatal one is %v", job)
	}

	endless := node.enqueue(t, `"args":{"to":100000,"pause":0.01}`)
	first.says(t, "counting "+filepath.Base(endless))
	node.json(t, "POST", endless+"/cancel", `{"reason":"enough"}`)
	if job := node.final(t, endless); job["state"] != "cancelled" {
		t.Errorf("the cancelled one is %v", job)
	}

	if kills {
		long := node.enqueue(t, `"args":{"to":20,"pause":0.05}`)
		first.says(t, "counting "+filepath.Base(long))
		if err := first.end(t, syscall.SIGKILL); err == nil {
			t.Error("a killed worker ended well")
		}
		first = start(node.url)
		// On a busy machine, a worker may lose its lease of one second as well.
		if job := node.final(t, long); job["state"] != "succeeded" || job["attempt"].(float64) < 2 {
			t.Errorf("what the killed worker ran is %v", job)
		}
	}
	if err := first.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("the worker did not leave: %v", err)
	}
}
