package schedule_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// tables is a Tx that notes what it is asked to write.
type tables struct {
	sight schedule.Sight
	known []schedule.Fire    // what LastEnded returns
	taken []schedule.Instant // what Taken finds
	asked []schedule.Instant // what Taken was asked for
	moved []int64            // jobs that Cancel finds ended

	calls    []string
	jobs     []*fairlead.Job // that were enqueued
	ended    []schedule.EndedJob
	alerts   []*fairlead.Job
	fires    []schedule.Fire
	closed   []schedule.Fire
	admitted []schedule.Fire
	advanced []*schedule.Record
}

func (t *tables) note(call string) { t.calls = append(t.calls, call) }

func (t *tables) Look(context.Context) (schedule.Sight, error) { return t.sight, nil }

func (t *tables) LastEnded(context.Context, []int64) ([]schedule.Fire, error) { return t.known, nil }

func (t *tables) Taken(_ context.Context, instants []schedule.Instant) ([]schedule.Instant, error) {
	t.asked = instants
	return t.taken, nil
}

func (t *tables) Cancel(_ context.Context, jobs []int64, _ string) (map[int64]time.Time, error) {
	t.note("cancel")
	cancelled := map[int64]time.Time{}
	for _, job := range jobs {
		if !slices.Contains(t.moved, job) {
			cancelled[job] = t.sight.Now
		}
	}
	return cancelled, nil
}

func (t *tables) Admit(_ context.Context, runs []schedule.Fire) error {
	t.note("admit")
	t.admitted = runs
	return nil
}

func (t *tables) Number(_ context.Context, jobs []*fairlead.Job) error {
	for i, job := range jobs {
		job.ID = int64(101 + i)
	}
	return nil
}

// Enqueue refuses jobs that have a key.
func (t *tables) Enqueue(_ context.Context, jobs []*fairlead.Job) (map[int]error, error) {
	t.note("enqueue")
	refused := map[int]error{}
	for i, job := range jobs {
		if job.Key != "" {
			refused[i] = errors.New("the key is taken")
			continue
		}
		t.jobs = append(t.jobs, job)
	}
	return refused, nil
}

func (t *tables) Record(_ context.Context, jobs []schedule.EndedJob) error {
	t.note("record")
	t.ended = jobs
	return nil
}

func (t *tables) Alert(_ context.Context, jobs []*fairlead.Job) error {
	t.note("alert")
	t.alerts = jobs
	return nil
}

func (t *tables) AddFires(_ context.Context, runs []schedule.Fire) error {
	t.note("fires")
	t.fires = runs
	return nil
}

func (t *tables) CloseFires(_ context.Context, runs []schedule.Fire) error {
	t.note("close")
	t.closed = runs
	return nil
}

func (t *tables) Advance(_ context.Context, schedules []*schedule.Record) error {
	t.note("advance")
	t.advanced = schedules
	return nil
}

// carryOut carries out one plan for all schedules, and returns what they saw.
func (t *tables) carryOut(test *testing.T, plan schedule.Plan) (schedule.Outcome, map[int64]schedule.View) {
	test.Helper()
	views := map[int64]schedule.View{}
	t.sight.Now = noon
	outcome, err := schedule.CarryOut(test.Context(), t, func(s schedule.Schedule, v schedule.View) (schedule.Plan, error) {
		views[s.ID] = v
		return plan, nil
	})
	if err != nil {
		test.Fatal(err)
	}
	return outcome, views
}

// seeing is tables with a schedule that is due, and its open runs.
func seeing(open ...schedule.Fire) *tables {
	s := schedule.Taken{Wanted: true}
	s.ID, s.Job = 1, fairlead.Job{Kind: "k"}
	for i := range open {
		open[i].Schedule = 1
	}
	return &tables{sight: schedule.Sight{Schedules: []schedule.Taken{s}, Open: open}}
}

func byClock(due time.Time) schedule.PlannedFire {
	return schedule.PlannedFire{Due: due, Trigger: schedule.TriggerCron, Number: 1}
}

func TestJobsThatEndGoBeforeThoseThatTakeTheirPlace(t *testing.T) {
	tx := seeing(schedule.Fire{Job: 7, State: fairlead.Running}, schedule.Fire{Job: 8, State: fairlead.Scheduled, Queued: true})
	outcome, _ := tx.carryOut(t, schedule.Plan{Cancel: []int64{7, 99}, Admit: []int64{8}, Fires: []schedule.PlannedFire{byClock(noon)}})
	if want := []string{"cancel", "admit", "enqueue", "fires", "close", "advance"}; !slices.Equal(tx.calls, want) {
		t.Errorf("the calls are %v, want %v", tx.calls, want)
	}
	if len(tx.closed) != 1 || tx.closed[0].Job != 7 || tx.closed[0].State != fairlead.Cancelled || len(tx.admitted) != 1 {
		t.Errorf("closed %+v, admitted %+v", tx.closed, tx.admitted)
	}
	if last := tx.advanced[0].LastRun(); last.Job != 7 || last.State != fairlead.Cancelled {
		t.Errorf("the last run is %+v", last)
	}
	if outcome.Schedules != 1 || len(outcome.Fires) != 1 || outcome.Fires[0].Job != 101 || outcome.Fires[0].State != fairlead.Ready {
		t.Errorf("the outcome is %+v", outcome)
	}
}

func TestARunThatEndedBeforeItWasCancelledIsLeftToTheNextTick(t *testing.T) {
	tx := seeing(schedule.Fire{Job: 7, State: fairlead.Running})
	tx.moved = []int64{7}
	tx.carryOut(t, schedule.Plan{Cancel: []int64{7}})
	if len(tx.closed) != 0 || tx.advanced[0].Last != nil {
		t.Errorf("closed %+v, the last run is %+v", tx.closed, tx.advanced[0].Last)
	}
}

func TestOnlyInstantsThatAreNotNewerThanAllRunsAreAskedFor(t *testing.T) {
	tx := seeing()
	old, other := noon.Add(-2*time.Hour), noon.Add(-time.Hour)
	tx.sight.Newest = map[int64]time.Time{1: other}
	tx.taken = []schedule.Instant{{Schedule: 1, Due: old, Shared: true}}
	manual := schedule.PlannedFire{Due: old, Trigger: schedule.TriggerManual, Number: 1}
	tx.carryOut(t, schedule.Plan{Fires: []schedule.PlannedFire{byClock(old), byClock(other), byClock(noon), byClock(noon), manual}})
	if want := []schedule.Instant{{Schedule: 1, Due: old}, {Schedule: 1, Due: other}}; !slices.Equal(tx.asked, want) {
		t.Errorf("asked for %v, want %v", tx.asked, want)
	}
	var made []time.Time
	for _, fire := range tx.fires {
		made = append(made, fire.Due)
	}
	if want := []time.Time{other, noon, old}; !slices.Equal(made, want) {
		t.Errorf("there are runs of %v, want %v", made, want)
	}
}

func TestARunWhoseJobIsRefusedHasFailedAndASkipIsRecorded(t *testing.T) {
	tx := seeing()
	tx.sight.Schedules[0].Job.Key = "key"
	skip := byClock(noon.Add(time.Second))
	skip.Skip = schedule.SkipOverlap
	broken := schedule.PlannedFire{Due: noon, Trigger: schedule.TriggerManual, Number: 1, Args: []byte(`{`)}
	outcome, _ := tx.carryOut(t, schedule.Plan{Fires: []schedule.PlannedFire{byClock(noon), skip, broken}})
	states := []fairlead.State{fairlead.Failed, fairlead.Skipped, fairlead.Failed}
	for i, fire := range outcome.Fires {
		if fire.State != states[i] || tx.ended[i].State != states[i] || tx.ended[i].Job.ID != fire.Job {
			t.Errorf("run %d is %+v, its job %+v", i, fire, tx.ended[i])
		}
	}
	if !tx.advanced[0].Skipped || len(tx.jobs) != 0 || tx.ended[2].Job.Args != nil {
		t.Errorf("skipped %v, enqueued %v", tx.advanced[0].Skipped, tx.jobs)
	}
}

func TestTheLastRunOfAScheduleIsTheOneBeforeARunThatWasRetried(t *testing.T) {
	tx := seeing(schedule.Fire{Job: 7, Due: noon, State: fairlead.Running})
	tx.sight.Schedules[0].Last = &schedule.Fire{Job: 7, Due: noon, State: fairlead.Failed}
	tx.known = []schedule.Fire{
		{Job: 5, Schedule: 1, Due: noon.Add(-2 * time.Hour), State: fairlead.Succeeded},
		{Job: 6, Schedule: 1, Due: noon.Add(-time.Hour), State: fairlead.Failed},
		{Job: 8, Schedule: 1, Due: noon.Add(time.Hour), State: fairlead.Ready},
	}
	_, views := tx.carryOut(t, schedule.Plan{})
	if last := views[1].Last; last == nil || last.Job != 6 {
		t.Errorf("the last run is %+v", last)
	}
}

func TestOfADeletedScheduleRunsAreOnlySeenToHaveEnded(t *testing.T) {
	tx := seeing(schedule.Fire{Job: 7, State: fairlead.Succeeded})
	tx.sight.Schedules[0].Deleted = true
	outcome, views := tx.carryOut(t, schedule.Plan{Fires: []schedule.PlannedFire{byClock(noon)}})
	if outcome.Schedules != 0 || len(views) != 0 || !slices.Equal(tx.calls, []string{"close"}) {
		t.Errorf("the outcome is %+v after %v", outcome, tx.calls)
	}
}

func TestAScheduleThatAnotherNodeWasFasterWithIsPassedOver(t *testing.T) {
	tx := seeing(schedule.Fire{Job: 7, State: fairlead.Running})
	tx.sight.Schedules[0].Wanted = false
	if outcome, _ := tx.carryOut(t, schedule.Plan{}); outcome.Schedules != 0 || len(tx.calls) != 0 {
		t.Errorf("the outcome is %+v after %v", outcome, tx.calls)
	}
}

func TestRunsAreReportedInTheOrderOfTheirEnds(t *testing.T) {
	run := func(job int64, due, ended int) schedule.Fire {
		return schedule.Fire{Job: job, Due: noon.Add(time.Duration(due)), EndedAt: noon.Add(time.Duration(ended)), State: fairlead.Succeeded}
	}
	tx := seeing(run(1, 0, 9), run(4, 5, 3), run(3, 4, 3), run(2, 4, 3), schedule.Fire{Job: 5, State: fairlead.Failed})
	_, views := tx.carryOut(t, schedule.Plan{})
	for i, want := range []int64{5, 2, 3, 4, 1} {
		if views[1].Ended[i].Job != want {
			t.Errorf("run %d is reported as number %d", views[1].Ended[i].Job, i)
		}
	}
	if !views[1].Ended[0].EndedAt.Equal(noon) {
		t.Errorf("a run whose job is gone ended at %v", views[1].Ended[0].EndedAt)
	}
}

func TestEachAlertHasATraceOfItsOwn(t *testing.T) {
	const given = "00-11111111111111111111111111111111-2222222222222222-01"
	plan := schedule.Plan{Alerts: []*fairlead.Job{{Kind: "http"}, {Kind: "http"}, {Kind: "http", Trace: given}}}
	tx := seeing()
	tx.carryOut(t, plan)
	if tx.alerts[0].Trace == "" || tx.alerts[0].Trace == tx.alerts[1].Trace || tx.alerts[2].Trace != given {
		t.Errorf("the traces are %q, %q and %q", tx.alerts[0].Trace, tx.alerts[1].Trace, tx.alerts[2].Trace)
	}
	if plan.Alerts[0].Trace != "" || tx.alerts[0].Queue != fairlead.DefaultQueue {
		t.Error("the plan's own job was changed, or the one to be stored is not complete")
	}
}

func TestWhatADecisionRefusesIsNotCarriedOut(t *testing.T) {
	tx, refusal := seeing(schedule.Fire{Job: 7, State: fairlead.Succeeded}), errors.New("no")
	_, err := schedule.CarryOut(t.Context(), tx, func(schedule.Schedule, schedule.View) (schedule.Plan, error) {
		return schedule.Plan{}, refusal
	})
	if !errors.Is(err, refusal) || len(tx.calls) != 0 {
		t.Errorf("the error is %v after %v", err, tx.calls)
	}
}
