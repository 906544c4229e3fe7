package sweep_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

func TestASweepThatHasFinishedCanBeginAnew(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	for _, run := range runs {
		from := s.shards(sw.ID)[run.Shard].From
		s.fail(run, from+500, true, from+3)
	}
	s.end(runs...)
	s.wantState(s.look(sw), sweep.Finished)
	_, err := s.client.Start(s.Context(), sw.ID, "ann")
	s.wantConflict(err)
	again, err := s.client.StartAgain(s.Context(), sw.ID, "ann")
	s.ok(err)
	s.wantState(again, sweep.Running)
	if want := (sweep.Progress{Total: 1000}); again.Progress != want || again.Run != 2 {
		t.Fatalf("it stands as %+v", again.Status)
	}
	if ledger := s.ledger(sw); ledger.Forgiven != 0 || ledger.Earlier != 0 {
		t.Fatalf("its ledger is %+v", ledger)
	}
	failed, err := s.client.FailedItems(s.Context(), sweep.ItemFilter{Sweep: sw.ID})
	if err != nil || len(failed) != 0 {
		t.Fatalf("%v are known as failed, %v", failed, err)
	}
	if runs = s.claim(10); len(runs) != 2 {
		t.Fatalf("%d shards can be begun", len(runs))
	}
	_, err = s.client.StartAgain(s.Context(), sw.ID, "ann")
	s.wantConflict(err) // it runs
	s.checkpoint(runs[0], 100, 0, false)
	s.stop(sw)
	s.end(runs...)
	s.wantState(s.look(sw), sweep.Stopped)
	again, err = s.client.StartAgain(s.Context(), sw.ID, "ann")
	s.ok(err)
	if again.Done != 100 {
		t.Fatalf("one that was stopped does not go on: %+v", again.Progress)
	}
}

func TestAJobStartsASweep(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put()
	work := func(job fairlead.Job, args string) error {
		job.Kind, job.Args = sweep.StartKind, json.RawMessage(args)
		if job.Tenant == "" {
			job.Tenant = fairlead.DefaultTenant
		}
		return sweep.StartHandler(s.store).Work(t.Context(), &job)
	}
	args := `{"sweep":"` + sw.Name + `"}`
	if err := work(fairlead.Job{ID: 6, Tenant: "other"}, args); !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatalf("a job of another tenant was answered with %v", err)
	}
	for _, bad := range []string{`{}`, `[]`, `{"sweep":"nobody"}`} {
		if err := work(fairlead.Job{ID: 6}, bad); err == nil {
			t.Fatalf("%s was taken", bad)
		}
	}
	s.wantState(s.look(sw), sweep.Created)
	first := fairlead.Job{ID: 7}
	s.ok(work(first, args))
	s.wantState(s.look(sw), sweep.Running)
	s.wantConflict(work(fairlead.Job{ID: 8}, args))
	first.Attempt = 2 // its first attempt could not say that it was done
	s.ok(work(first, args))
	run := s.claim(1)[0]
	s.checkpoint(run, 1000, 0, true)
	s.end(run)
	s.wantState(s.look(sw), sweep.Finished)
	s.wantConflict(work(fairlead.Job{ID: 9}, args))
	s.ok(work(fairlead.Job{ID: 9}, `{"sweep":"`+sw.Name+`","again":true}`))
	s.wantState(s.look(sw), sweep.Running)
}

func TestNamesOfTheJobsOfSweepsAreNoKinds(t *testing.T) {
	for _, name := range []string{sweep.StartKind, sweep.GateKind} {
		s := sweep.Sweep{Name: "n", Kind: strings.TrimPrefix(name, sweep.KindOf("")), To: 1}
		if err := sweep.Normalize(&s); !onlyField(err, "kind") {
			t.Errorf("%s was answered with %v", s.Kind, err)
		}
	}
}

func TestTheSweepOfAJobIsThatOfItsShard(t *testing.T) {
	for _, c := range []struct {
		job  fairlead.Job
		want int64
	}{
		{fairlead.Job{Kind: sweep.KindOf("scrub"), Args: json.RawMessage(`{"sweep_id":7,"shard":1}`)}, 7},
		{fairlead.Job{Kind: sweep.KindOf("scrub"), Args: json.RawMessage(`{"sweep_id":7,"shard":"one"}`)}, 0},
		{fairlead.Job{Kind: "scrub", Args: json.RawMessage(`{"sweep_id":7}`)}, 0},
		{fairlead.Job{Kind: sweep.StartKind, Args: json.RawMessage(`{"sweep_id":7}`)}, 0},
	} {
		if got := sweep.Of(&c.job); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.job.Kind, c.job.Args, got, c.want)
		}
	}
}
