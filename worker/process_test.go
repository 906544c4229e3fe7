package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/worker"
)

// childServer makes this binary a worker that begins jobs and never ends them,
// childSweeper one that goes over sweeps.
const (
	childServer  = "FAIRLEAD_TEST_CHILD_SERVER"
	childSweeper = "FAIRLEAD_TEST_CHILD_SWEEPER"
)

func TestMain(m *testing.M) {
	if server := os.Getenv(childServer); server != "" {
		mux := one(fairlead.HandlerOptions{}, func(ctx context.Context, job *fairlead.Job) error {
			fmt.Println(job.ID)
			<-ctx.Done()
			return ctx.Err()
		})
		options := worker.Options{Server: server, Name: "child", Slots: 4, Beat: beat, Lease: lease, Logger: slog.New(slog.DiscardHandler)}
		if err := worker.Run(context.Background(), mux, options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if server := os.Getenv(childSweeper); server != "" {
		if err := goOverInChild(server); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// A worker that is killed is reaped like a node: its jobs run elsewhere.
func TestNothingIsLostWhenAWorkerIsKilled(t *testing.T) {
	tier.Long(t, "kills a worker and waits for its lease to end")
	w := newLosingWorld(t)
	var ids []int64
	for range 20 {
		ids = append(ids, w.enqueue(&fairlead.Job{Kind: "k"}))
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childServer+"="+w.web.URL)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	begun := bufio.NewReader(out)
	for range 4 { // all of its slots are busy
		if _, err := begun.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, begun)
	_ = child.Wait()

	w.start(one(fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil }), nil)
	crashed := 0
	for _, id := range ids {
		job := w.wait(id)
		if job.State != fairlead.Succeeded {
			t.Errorf("job %d ended as %s: %s", id, job.State, job.Error)
		}
		if job.Attempt == 2 {
			crashed++
		}
	}
	if crashed != 4 {
		t.Errorf("%d jobs ran twice, want the 4 that the killed worker had", crashed)
	}
}
