package sqlstore

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestEachAlertHasATraceOfItsOwn(t *testing.T) {
	const given = "00-11111111111111111111111111111111-2222222222222222-01"
	plan := &schedule.Plan{Alerts: []*fairlead.Job{{Kind: "http"}, {Kind: "http"}, {Kind: "http", Trace: given}}}
	jobs, err := Alerts(plan)
	if err != nil {
		t.Fatal(err)
	}
	if jobs[0].Trace == "" || jobs[0].Trace == jobs[1].Trace || jobs[2].Trace != given {
		t.Errorf("the traces are %q, %q and %q", jobs[0].Trace, jobs[1].Trace, jobs[2].Trace)
	}
	if plan.Alerts[0].Trace != "" || jobs[0].Queue != fairlead.DefaultQueue {
		t.Error("the plan's own job was changed, or the one to be stored is not complete")
	}
	if none, err := Alerts(&schedule.Plan{}); none != nil || err != nil {
		t.Errorf("without alerts: %v, %v", none, err)
	}
}

func TestWhatAScheduleRemembersOfItsRunsComesBack(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range []schedule.Standing{{}, {Failures: 1}, {Told: true}, {FailedAt: at}, {MissedAt: at}, {Failures: 3, Told: true, FailedAt: at, MissedAt: at.Add(1000)}} {
		if got := decodeStanding([]byte(EncodeStanding(s))); got != s {
			t.Errorf("%+v came back as %+v", s, got)
		}
	}
	if EncodeStanding(schedule.Standing{}) != "" {
		t.Error("nothing is remembered in so many words")
	}
	if got := decodeStanding([]byte("{")); got != (schedule.Standing{}) {
		t.Errorf("what cannot be read is %+v", got)
	}
}

func TestRunsAreToldOfInTheOrderOfTheirEnds(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	run := func(job int64, due, ended int) schedule.Fire {
		return schedule.Fire{Job: job, Due: at.Add(time.Duration(due)), EndedAt: at.Add(time.Duration(ended))}
	}
	sorted := InOrderOfEnd([]schedule.Fire{run(1, 0, 9), run(4, 5, 3), run(3, 4, 3), run(2, 4, 3)})
	for i, want := range []int64{2, 3, 4, 1} {
		if sorted[i].Job != want {
			t.Errorf("run %d is told of as number %d", sorted[i].Job, i)
		}
	}
}
