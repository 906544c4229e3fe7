package fairlead_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// gateCalls are what the business has been told, oldest first.
func (s *scrubbing) gateCalls() []fairlead.GateCall {
	s.Helper()
	jobs, err := s.store.Find(s.Context(), fairlead.Filter{Kinds: []string{fairlead.GateKind}})
	s.ok(err)
	calls := make([]fairlead.GateCall, len(jobs))
	for i, job := range jobs {
		s.ok(json.Unmarshal(job.Args, &calls[len(jobs)-1-i]))
	}
	return calls
}

func (s *scrubbing) wantCalls(n int) {
	s.Helper()
	if calls := s.gateCalls(); len(calls) != n {
		s.Fatalf("the business was told %d times, want %d: %+v", len(calls), n, calls)
	}
}

func TestASweepWaitsUntilTheBusinessOpensIt(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.put(gated, func(w *fairlead.Sweep) {
		w.Gate.Timeout, w.Data, w.Queue, w.Tenant = time.Hour, json.RawMessage(`{"n":1}`), "sg", "acme"
	})
	waiting := s.start(sweep)
	s.wantState(waiting, fairlead.SweepWaiting)
	s.wantCalls(1)
	call, err := json.Marshal(s.gateCalls()[0])
	s.ok(err)
	want, err := json.Marshal(fairlead.GateCall{URL: "https://example.com/run", Sweep: sweep.ID, Name: sweep.Name, Run: 1, Data: json.RawMessage(`{"n":1}`)})
	s.ok(err)
	if string(call) != string(want) {
		t.Fatalf("the business was told %s, want %s", call, want)
	}
	jobs, err := s.store.Find(t.Context(), fairlead.Filter{Queues: []string{"sg"}, Tenants: []string{"acme"}})
	s.ok(err)
	if len(jobs) != 1 || len(s.claim(10)) != 0 || waiting.Cut {
		t.Fatal("it does not wait")
	}
	opened, err := s.client.OpenSweep(t.Context(), sweep.ID, "business")
	s.ok(err)
	s.wantState(opened, fairlead.SweepRunning)
	if runs := s.claim(10); len(runs) != 1 || runs[0].Queue != "sg" || runs[0].Tenant != "acme" {
		t.Fatalf("what runs is %+v", runs)
	}
	s.wantCalls(1)
}

func TestTheBusinessIsToldAgainAfterAWhile(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.put(gated, func(w *fairlead.Sweep) { w.Gate.Timeout = time.Hour })
	s.start(sweep)
	s.look(sweep)
	s.wantCalls(1)
	s.passed.Add(int64(time.Hour - time.Second))
	s.look(sweep)
	s.wantCalls(1)
	s.passed.Add(int64(time.Second))
	s.look(sweep)
	s.look(sweep)
	s.wantCalls(2)
	s.stop(sweep)
	s.passed.Add(int64(time.Hour))
	s.look(sweep)
	s.wantCalls(2)
	s.start(sweep) // it is told of each start at once
	s.wantCalls(3)
	if calls := s.gateCalls(); calls[2].Run != 2 || calls[2].Again {
		t.Fatalf("it was told %+v", calls[2])
	}
}

func TestTheBusinessIsToldThatAnotherNodeTookASweepUp(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.put(gated)
	s.start(sweep)
	s.ok(fairlead.ResumeSweep(t.Context(), s.store, sweep.ID)) // it does not run yet
	s.wantCalls(1)
	_, err := s.client.OpenSweep(t.Context(), sweep.ID, "business")
	s.ok(err)
	s.ok(fairlead.ResumeSweep(t.Context(), s.store, sweep.ID))
	s.wantCalls(2)
	if !s.gateCalls()[1].Again {
		t.Fatal("it was not told that it is the same run")
	}
	s.wantState(s.look(sweep), fairlead.SweepRunning)
}
