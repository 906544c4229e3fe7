package sweep_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// gateCalls are what the business has been told, oldest first.
func (s *scrubbing) gateCalls() []sweep.GateCall {
	s.Helper()
	jobs, err := s.store.Find(s.Context(), fairlead.Filter{Kinds: []string{sweep.GateKind}})
	s.ok(err)
	calls := make([]sweep.GateCall, len(jobs))
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
	sw := s.put(gated, func(w *sweep.Sweep) {
		w.Gate.Timeout, w.Data, w.Queue, w.Tenant = time.Hour, json.RawMessage(`{"n":1}`), "sg", "acme"
	})
	waiting := s.start(sw)
	s.wantState(waiting, sweep.Waiting)
	s.wantCalls(1)
	call, err := json.Marshal(s.gateCalls()[0])
	s.ok(err)
	want, err := json.Marshal(sweep.GateCall{URL: "https://example.com/run", Sweep: sw.ID, Name: sw.Name, Run: 1, Data: json.RawMessage(`{"n":1}`)})
	s.ok(err)
	if string(call) != string(want) {
		t.Fatalf("the business was told %s, want %s", call, want)
	}
	jobs, err := s.store.Find(t.Context(), fairlead.Filter{Queues: []string{"sg"}, Tenants: []string{"acme"}})
	s.ok(err)
	if len(jobs) != 1 || len(s.claim(10)) != 0 || s.ledger(sw).Cut {
		t.Fatal("it does not wait")
	}
	opened, err := s.client.Open(t.Context(), sw.ID, "business")
	s.ok(err)
	s.wantState(opened, sweep.Running)
	if runs := s.claim(10); len(runs) != 1 || runs[0].Queue != "sg" || runs[0].Tenant != "acme" {
		t.Fatalf("what runs is %+v", runs)
	}
	s.wantCalls(1)
}

func TestTheBusinessIsToldAgainAfterAWhile(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.put(gated, func(w *sweep.Sweep) { w.Gate.Timeout = time.Hour })
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
	s.start(sweep) // the gate gets a message at each start at once
	s.wantCalls(3)
	if calls := s.gateCalls(); calls[2].Run != 2 || calls[2].Again {
		t.Fatalf("it was told %+v", calls[2])
	}
}

func TestTheBusinessIsToldThatAnotherNodeTookASweepUp(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put(gated)
	s.start(sw)
	s.ok(sweep.Resume(t.Context(), s.store, sw.ID)) // it does not run yet
	s.wantCalls(1)
	_, err := s.client.Open(t.Context(), sw.ID, "business")
	s.ok(err)
	s.ok(sweep.Resume(t.Context(), s.store, sw.ID))
	s.wantCalls(2)
	if !s.gateCalls()[1].Again {
		t.Fatal("it was not told that it is the same run")
	}
	s.wantState(s.look(sw), sweep.Running)
}
