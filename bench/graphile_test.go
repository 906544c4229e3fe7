package main

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestWithoutGraphileEveryContestHasBothSides(t *testing.T) {
	all := contests(sizes{jobs: 100, seconds: 1})
	entries := func(contests []contest) (n int) {
		for _, c := range contests {
			n += len(c.entries)
		}
		return n
	}
	before := entries(all)
	rest := without(all, usesGraphile)
	if entries(all) != before || entries(rest) == before {
		t.Errorf("%d entries, %d after some were left out, and %d without them", before, entries(all), entries(rest))
	}
	for _, c := range rest {
		if slices.ContainsFunc(c.entries, usesGraphile) {
			t.Errorf("%s still has graphile-worker", c.name)
		}
		for _, reference := range []bool{true, false} {
			if !slices.ContainsFunc(c.entries, func(e entry) bool { return e.reference == reference }) {
				t.Errorf("%s has one side only", c.name)
			}
		}
	}
}

func TestGraphileRunsEveryJobAndItsProcessesAreMeasured(t *testing.T) {
	if !graphileInstalled() {
		t.Skip("graphile-worker is not installed: a comparison does that")
	}
	for _, spec := range []bench.Spec{
		{Workload: bench.Enqueue, Jobs: 30_000}, // enough for the steps of the clock of CPU time
		{Workload: bench.Drain, Jobs: 1500},
		{Workload: bench.Sustained, Jobs: 1000},
		{Workload: bench.Latency, Jobs: 5},
	} {
		t.Run(spec.Workload, func(t *testing.T) {
			url := testdb.Postgres(t)
			options := tunedGraphile()
			if spec.Workload == bench.Latency {
				options = defaultGraphile()
			}
			s, err := openGraphile(t.Context(), url, spec.Workload, options)
			if err != nil {
				t.Fatal(err)
			}
			server, err := bench.OpenServer(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			result, err := bench.Bench{Spec: spec, Scheduler: s, Server: server, Client: bench.ChildrenTime}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if result.Jobs < int64(spec.Jobs) || result.ClientMicros <= 0 {
				t.Errorf("got %+v, want %d jobs and CPU time of the processes", result, spec.Jobs)
			}
			if (spec.Workload == bench.Latency) != (result.P50Millis > 0) {
				t.Errorf("p50 is %v ms", result.P50Millis)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			if err := s.Enqueue(t.Context(), []bench.Args{bench.NewArgs()}); err == nil {
				t.Error("a job was stored by a process that has ended")
			}
		})
	}
}
