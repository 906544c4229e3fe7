//go:build unix

package httpcall_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/sqlite"
)

// exhaustedTarget is the environment variable with the URL that a process without file
// descriptors calls.
const exhaustedTarget = "FAIRLEAD_TEST_EXHAUSTED_TARGET"

func TestAProcessWithoutDescriptorsUsesUpNoAttempt(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // the next call needs a descriptor too
	}))
	defer target.Close()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInAProcessWithoutDescriptors$", "-test.v")
	command.Env = append(os.Environ(), exhaustedTarget+"="+target.URL)
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInAProcessWithoutDescriptors") {
		t.Errorf("%v\n%s", err, out)
	}
}

// lines is a log that a test reads while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), part)
}

// TestInAProcessWithoutDescriptors is a node that has opened as many files as it may when it
// gets a job with one attempt.
func TestInAProcessWithoutDescriptors(t *testing.T) {
	url := os.Getenv(exhaustedTarget)
	if url == "" {
		t.Skip("it runs in a process of its own")
	}
	store, err := sqlite.Open(t.Context(), "sqlite://:memory:")
	if err != nil {
		t.Fatal(err)
	}
	mux := fairlead.NewMux()
	httpcall.New(httpcall.Options{Guard: local(t), MaxFailures: 1}).Register(mux)
	log := &lines{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(ctx, store, mux, engine.Options{Poll: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	}()
	client := fairlead.NewClient(store)
	call := func() *fairlead.Job {
		job := &fairlead.Job{Kind: httpcall.Kind, Args: []byte(`{"url":"` + url + `"}`), MaxAttempts: 1}
		if err := client.Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		return job
	}
	succeeds := func(job *fairlead.Job) *fairlead.Job {
		var now *fairlead.Job
		until(t, func() bool {
			if now, err = client.Get(t.Context(), job.ID); err != nil {
				t.Fatal(err)
			}
			return now.State.Final()
		})
		if now.State != fairlead.Succeeded {
			t.Fatalf("the job is %s: %s", now.State, now.Error)
		}
		return now
	}
	succeeds(call())

	var files []*os.File
	limit := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = min(limit.Cur, 256)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for {
		file, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	job := call()
	until(t, func() bool { return log.has("too many open files") })
	for _, file := range files {
		_ = file.Close()
	}
	if done := succeeds(job); done.Failures != 0 {
		t.Errorf("%d attempts have failed", done.Failures)
	}
	if !log.has("this process has no file descriptors left") {
		t.Errorf("the log says\n%s", log.text.String())
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// until waits for something that must come.
func until(t *testing.T, come func() bool) {
	t.Helper()
	for begun := time.Now(); !come(); {
		if time.Since(begun) > patience.Limit {
			t.Fatal("it did not come")
		}
		<-time.After(10 * time.Millisecond)
	}
}
