package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// flakyServer is a server that does not answer the first session of a worker until the
// second request to end it. The second session gets one job. Its progress is answered once
// the worker announces that it leaves.
type flakyServer struct {
	mu      sync.Mutex
	joins   int
	leaves  int
	leased  bool
	calls   []string // joins and leaves, with their answers
	leaving chan struct{}
}

func (f *flakyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, answer, patient := f.answer(r.Method, strings.TrimPrefix(r.URL.Path, "/api/v1/workers"))
	if patient {
		select {
		case <-f.leaving:
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(status)
	fmt.Fprint(w, answer)
}

// answer returns the response to a call, and whether the call gets it only once the worker
// leaves.
func (f *flakyServer) answer(verb, path string) (status int, answer string, patient bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	note := func(status int) int {
		f.calls = append(f.calls, fmt.Sprint(verb, " ", path, " ", status))
		return status
	}
	switch {
	case path == "":
		lease := "0.4s"
		if f.joins++; f.joins > 1 {
			lease = "60s" // however busy the machine is, it is not lost
		}
		return note(200), fmt.Sprintf(`{"id":"%d","session":"s","lease":%q,"beat":"0.1s"}`, f.joins, lease), false
	case verb == http.MethodDelete && path == "/1":
		if f.leaves++; f.leaves == 1 {
			return note(503), "", false
		}
		return note(200), "{}", false
	case verb == http.MethodDelete:
		return note(200), "{}", false
	case strings.HasPrefix(path, "/1/"):
		return 503, "", false
	case path == "/2/lease" && !f.leased:
		f.leased = true
		return 200, `{"jobs":[{"id":"7","fence":"1","kind":"count","attempt":1,"args":{"to":1,"pause":0.01}}]}`, false
	case path == "/2/lease", path == "/2/progress":
		return 200, "{}", true
	case path == "/2/settle":
		return 200, `{"results":[{"id":"7","result":"settled","state":"succeeded"}]}`, false
	}
	return 200, "{}", false
}

func TestTheWorkersOfTheExamplesLeaveAfterALostLeaseAndSayWhatStillRuns(t *testing.T) {
	eachExampleWorker(t, func(t *testing.T, program ...string) {
		flaky := &flakyServer{leaving: make(chan struct{})}
		web := httptest.NewServer(flaky)
		defer web.Close()
		worker := startWorker(t, program[0], append(program[1:], web.URL)...)
		worker.says(t, "joined 2")
		worker.says(t, "counting 7")
		if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		worker.says(t, "leaving; jobs that still run: 1\n")
		close(flaky.leaving)
		worker.says(t, "job 7 succeeded")
		worker.says(t, "left")
		if err := worker.Wait(); err != nil {
			t.Error(err)
		}
		flaky.mu.Lock()
		defer flaky.mu.Unlock()
		want := []string{"POST  200", "DELETE /1 503", "DELETE /1 200", "POST  200", "DELETE /2 200"}
		if !slices.Equal(flaky.calls, want) {
			t.Errorf("it made the calls %q, want %q", flaky.calls, want)
		}
	})
}

func TestTheWorkersOfTheExamplesAskForATokenInOneLine(t *testing.T) {
	eachExampleWorker(t, func(t *testing.T, program ...string) {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
		defer web.Close()
		out, err := exec.CommandContext(t.Context(), program[0], append(program[1:], web.URL)...).CombinedOutput()
		var ended *exec.ExitError
		if want := "join: 401 Unauthorized: set FAIRLEAD_TOKEN to a token of the server\n"; string(out) != want || !errors.As(err, &ended) || ended.ExitCode() != 1 {
			t.Errorf("it ended with %v and said %q, want %q", err, out, want)
		}
	})
}

// eachExampleWorker tests the workers that count, in Python and TypeScript.
func eachExampleWorker(t *testing.T, test func(t *testing.T, program ...string)) {
	t.Helper()
	t.Parallel()
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		need(t, "python3")
		test(t, "python3", "-B", "../../examples/worker.py")
	})
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		test(t, "node", typeScriptWorker(t))
	})
}
