package schedule

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestARunIsTheJobOfItsSchedule(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	template := fairlead.Job{
		ID: 7, Kind: "k", Args: []byte(`1`), Key: "key", OnDuplicate: fairlead.KeepDuplicate, ConcurrencyKey: "c",
		StartBy: at, NotBefore: at, Status: fairlead.Status{Attempt: 3},
	}
	s := &Schedule{Job: template}
	run := runOf(s, &PlannedFire{})
	if run.ID != 0 || !run.NotBefore.IsZero() || run.Attempt != 0 || string(run.Args) != "1" || run.ConcurrencyKey != "c" || !run.StartBy.Equal(at) ||
		run.OnDuplicate != fairlead.RefuseDuplicate || run.Trace == "" {
		t.Errorf("as the schedule says it is %+v", run)
	}
	if other := runOf(s, &PlannedFire{}); other.Trace == run.Trace {
		t.Error("two runs have one trace")
	}
	later := at.Add(time.Hour)
	run = runOf(s, &PlannedFire{Args: []byte(`2`), Serial: "serial", Order: later, Queued: true})
	if string(run.Args) != "2" || run.ConcurrencyKey != "serial" || !run.StartBy.Equal(later) || !run.NotBefore.Equal(fairlead.Never) {
		t.Errorf("as the plan says it is %+v", run)
	}
	if skipped := runOf(s, &PlannedFire{Skip: SkipOverlap}); skipped.Trace != "" {
		t.Errorf("one that is skipped has the trace %q", skipped.Trace)
	}
	s.Job.Trace, s.Job.OnDuplicate = "given", fairlead.ReplaceDuplicate
	if run = runOf(s, &PlannedFire{}); run.Trace != "given" || run.OnDuplicate != fairlead.ReplaceDuplicate {
		t.Errorf("what the template says became %q and %q", run.Trace, run.OnDuplicate)
	}
}
