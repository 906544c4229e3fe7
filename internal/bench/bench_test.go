package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/sqlite"
)

// TestMain is also the main function of the worker process, for the test that needs one.
func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		if err := serveWorker(); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const workerEnv = "FAIRLEAD_BENCH_TEST_WORKER"

func serveWorker() error {
	input := bufio.NewReader(os.Stdin)
	post, err := bench.ReadPost(input)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(context.Background(), post.URL)
	if err != nil {
		return err
	}
	worker := &bench.Fairlead{Store: store, Kind: bench.KindOwn, Queue: post.Queue}
	return errors.Join(bench.ServeWork(context.Background(), worker, input, os.Stdout), store.Close())
}

func open(t *testing.T) (*bench.Fairlead, bench.Server, string) {
	t.Helper()
	url := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	store, err := sqlite.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	server, err := bench.OpenServer(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return &bench.Fairlead{Store: store, Kind: bench.KindOwn, Queue: bench.OwnQueue()}, server, url
}

func TestEveryJobIsRun(t *testing.T) {
	for _, c := range []struct {
		name string
		spec bench.Spec
		jobs int64
	}{
		{"drain", bench.Spec{Workload: bench.Drain, Jobs: 1234}, 1234},
		{"sustained for a number of jobs", bench.Spec{Workload: bench.Sustained, Jobs: 1000, Clients: 1}, 1000},
		{"latency", bench.Spec{Workload: bench.Latency, Jobs: 5}, 5},
		{"drain beside a long transaction", bench.Spec{Workload: bench.LongTx, Jobs: 321}, 321},
	} {
		t.Run(c.name, func(t *testing.T) {
			scheduler, server, _ := open(t)
			result, err := bench.Bench{Spec: c.spec, Scheduler: scheduler, Server: server}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if result.Jobs != c.jobs || result.Rate <= 0 || result.Seconds <= 0 || result.ClientMicros <= 0 {
				t.Errorf("got %+v, want %d jobs with rate, time and CPU time", result, c.jobs)
			}
			tally, err := scheduler.Store.Tally(t.Context(), fairlead.Filter{Queues: []string{scheduler.Queue}})
			if err != nil {
				t.Fatal(err)
			}
			if live := tally[fairlead.Ready] + tally[fairlead.Running]; live > 0 || tally[fairlead.Succeeded] < c.jobs {
				t.Errorf("the store has %v, want all succeeded", tally)
			}
		})
	}
}

func TestSustainedGoesOnForItsTime(t *testing.T) {
	scheduler, server, _ := open(t)
	spec := bench.Spec{Workload: bench.Sustained, Seconds: 0.3}
	result, err := bench.Bench{Spec: spec, Scheduler: scheduler, Server: server}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// How many end in a third of it is up to the machine.
	if result.Seconds < 0.3 || result.Jobs == 0 {
		t.Errorf("got %+v, want at least 0.3 s of jobs", result)
	}
}

func TestEnqueueLeavesTheJobsForOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		spec bench.Spec
	}{
		{"in batches", bench.Spec{Workload: bench.Enqueue, Jobs: 2500}},
		{"one by one", bench.Spec{Workload: bench.Enqueue, Jobs: 250, Clients: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			scheduler, server, _ := open(t)
			if _, err := (bench.Bench{Spec: c.spec, Scheduler: scheduler, Server: server}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			tally, err := scheduler.Store.Tally(t.Context(), fairlead.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			if tally[fairlead.Ready] != int64(c.spec.Jobs) {
				t.Errorf("the store has %v, want %d ready", tally, c.spec.Jobs)
			}
		})
	}
}

func TestLatencyAcrossProcesses(t *testing.T) {
	scheduler, server, url := open(t)
	t.Setenv(workerEnv, "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	remote := &bench.Remote{Scheduler: scheduler, Command: []string{program}, Post: bench.Post{URL: url, Queue: scheduler.Queue}}
	spec := bench.Spec{Workload: bench.Latency, Jobs: 5}
	result, err := bench.Bench{Spec: spec, Scheduler: remote, Server: server}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.Jobs != 5 || result.P50Millis <= 0 || result.P99Millis < result.P50Millis {
		t.Errorf("got %+v, want 5 samples", result)
	}
}

// broken is a scheduler whose workers fail at once.
type broken struct{ *bench.Fairlead }

var errBroken = errors.New("out of order")

func (broken) Work(context.Context, bench.Events) error { return errBroken }

func TestWorkersThatFailEndTheMeasurement(t *testing.T) {
	for _, workload := range []string{bench.Drain, bench.Sustained, bench.Latency, bench.LongTx} {
		t.Run(workload, func(t *testing.T) {
			scheduler, server, _ := open(t)
			spec := bench.Spec{Workload: workload, Jobs: 10}
			_, err := bench.Bench{Spec: spec, Scheduler: broken{scheduler}, Server: server}.Run(t.Context())
			if !errors.Is(err, errBroken) {
				t.Errorf("got %v, want the workers' error", err)
			}
		})
	}
}

func TestOrderIsCarriedOutUntilItsGiverIsGone(t *testing.T) {
	reader, writer := io.Pipe()
	go func() {
		_ = json.NewEncoder(writer).Encode(bench.Order{System: "any"})
		_ = writer.Close()
	}()
	err := bench.ServeOrder(t.Context(), reader, io.Discard, func(ctx context.Context, order bench.Order) (bench.Result, error) {
		if order.System != "any" {
			t.Errorf("got %+v", order)
		}
		<-ctx.Done()
		return bench.Result{}, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// Programs read results by these names.
func TestResultHasTheKeysOfTheContract(t *testing.T) {
	var out bytes.Buffer
	if err := (bench.Result{P50Millis: 1, P99Millis: 2, WALBytes: 3, Statements: 4}).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(out.Bytes(), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"workload", "store", "jobs", "seconds", "rate", "client_us_per_job", "server_us_per_job",
		"p50_ms", "p99_ms", "wal_bytes_per_job", "statements_per_job",
	} {
		if _, ok := keys[key]; !ok {
			t.Errorf("%s is missing in %s", key, out.String())
		}
	}
}

func TestArgsAreRandomAndOfOneSize(t *testing.T) {
	var seen []string
	for range 100 {
		data := bench.NewArgs().Data
		if len(data) != 100 || slices.Contains(seen, data) {
			t.Fatalf("got %q after %d others", data, len(seen))
		}
		seen = append(seen, data)
	}
}
