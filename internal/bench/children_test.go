package bench_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/internal/patience"
)

func TestTheTimeOfChildrenCountsThoseThatRunAndThoseThatEnded(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("CPU times of other processes are known on Linux only")
	}
	before := childrenTime(t)
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	running := before
	for began := time.Now(); running <= before && time.Since(began) < patience.Limit; {
		running = childrenTime(t)
	}
	if err := busy.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = busy.Wait() // it says that it was killed
	if running <= before {
		t.Fatalf("it stayed at %v while a child ran", before)
	}
	if ended := childrenTime(t); ended < running {
		t.Errorf("it fell from %v to %v when the child ended", running, ended)
	}
}

func childrenTime(t *testing.T) time.Duration {
	t.Helper()
	taken, err := bench.ChildrenTime()
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func TestTheClientsOfOtherProcessesAreMeasuredInsteadOfThisOne(t *testing.T) {
	for _, spec := range []bench.Spec{
		{Workload: bench.Enqueue, Jobs: 10},
		{Workload: bench.Drain, Jobs: 10},
		{Workload: bench.Sustained, Jobs: 10, Batch: 10, Clients: 1},
		{Workload: bench.Latency, Jobs: 10},
	} {
		t.Run(spec.Workload, func(t *testing.T) {
			scheduler, server, _ := open(t)
			var taken time.Duration
			client := func() (time.Duration, error) {
				taken += time.Hour
				return taken, nil
			}
			result, err := bench.Bench{Spec: spec, Scheduler: scheduler, Server: server, Client: client}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := float64((time.Hour / 10).Microseconds()); result.ClientMicros != want {
				t.Errorf("a job took %v µs of the client, want %v", result.ClientMicros, want)
			}
		})
	}
}
