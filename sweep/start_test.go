package sweep_test

import (
	"encoding/json"
	"errors"
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
}

func TestTheNameOfWhatStartsSweepsIsNoKind(t *testing.T) {
	s := sweep.Sweep{Name: "n", Kind: "start", To: 1}
	var invalid *fairlead.InvalidError
	if err := sweep.Normalize(&s); !errors.As(err, &invalid) || invalid.Fields[0].Field != "kind" {
		t.Errorf("it was answered with %v", err)
	}
}
