package fairlead_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestASweepThatHasFinishedCanBeginAnew(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	for _, run := range runs {
		from := s.shards(sweep.ID)[run.Shard].From
		s.fail(run, from+500, true, from+3)
	}
	s.end(runs...)
	s.wantState(s.look(sweep), fairlead.SweepFinished)
	_, err := s.client.StartSweep(s.Context(), sweep.ID, "ann")
	s.wantConflict(err)
	again, err := s.client.StartSweepAgain(s.Context(), sweep.ID, "ann")
	s.ok(err)
	s.wantState(again, fairlead.SweepRunning)
	if want := (fairlead.SweepProgress{Total: 1000}); again.SweepProgress != want || again.Run != 2 || again.Forgiven != 0 || again.Earlier != 0 {
		t.Fatalf("it stands as %+v", again.SweepStatus)
	}
	failed, err := s.client.FailedItems(s.Context(), fairlead.ItemFilter{Sweep: sweep.ID})
	if err != nil || len(failed) != 0 {
		t.Fatalf("%v are known as failed, %v", failed, err)
	}
	if runs = s.claim(10); len(runs) != 2 {
		t.Fatalf("%d shards can be begun", len(runs))
	}
	_, err = s.client.StartSweepAgain(s.Context(), sweep.ID, "ann")
	s.wantConflict(err) // it runs
	s.checkpoint(runs[0], 100, 0, false)
	s.stop(sweep)
	s.end(runs...)
	s.wantState(s.look(sweep), fairlead.SweepStopped)
	again, err = s.client.StartSweepAgain(s.Context(), sweep.ID, "ann")
	s.ok(err)
	if again.Done != 100 {
		t.Fatalf("one that was stopped does not go on: %+v", again.SweepProgress)
	}
}

func TestAJobStartsASweep(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.put()
	work := func(job fairlead.Job, args string) error {
		job.Kind, job.Args = fairlead.StartKind, json.RawMessage(args)
		if job.Tenant == "" {
			job.Tenant = fairlead.DefaultTenant
		}
		return fairlead.StartHandler(s.store).Work(t.Context(), &job)
	}
	args := `{"sweep":"` + sweep.Name + `"}`
	if err := work(fairlead.Job{ID: 6, Tenant: "other"}, args); !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatalf("a job of another tenant was answered with %v", err)
	}
	for _, bad := range []string{`{}`, `[]`, `{"sweep":"nobody"}`} {
		if err := work(fairlead.Job{ID: 6}, bad); err == nil {
			t.Fatalf("%s was taken", bad)
		}
	}
	s.wantState(s.look(sweep), fairlead.SweepCreated)
	first := fairlead.Job{ID: 7}
	s.ok(work(first, args))
	s.wantState(s.look(sweep), fairlead.SweepRunning)
	s.wantConflict(work(fairlead.Job{ID: 8}, args))
	first.Attempt = 2 // its first attempt could not say that it was done
	s.ok(work(first, args))
}

func TestTheNameOfWhatStartsSweepsIsNoKind(t *testing.T) {
	s := fairlead.Sweep{Name: "n", Kind: "start", To: 1}
	var invalid *fairlead.InvalidError
	if err := fairlead.NormalizeSweep(&s); !errors.As(err, &invalid) || invalid.Fields[0].Field != "kind" {
		t.Errorf("it was answered with %v", err)
	}
}
