package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// Figures per run, as in bench_test.go, with 100,000 schedules stored and 500 of
// them in each tick. Run with -benchtime=50000x.

func BenchmarkTickDue(b *testing.B) {
	bench := newTickBench(b)
	bench.measureTicks()
}

func BenchmarkTickEnded(b *testing.B) {
	bench := newTickBench(b)
	bench.ticks(b.N)
	exec(b, bench.url, `
		with moved as (delete from fairlead_ready returning id, lane)
		insert into fairlead_done (id, fence, started_at, finished_at, node, lane, attempt, failures, crashes, outcome)
		select id, 1, 1, 2, 1, lane, 1, 0, 0, 1 from moved`)
	bench.measureTicks()
}

const atOnce = 500 // schedules in a tick

type tickBench struct {
	*bench
	url string
}

// newTickBench stores schedules of which as many as are measured are due, one after
// the other.
func newTickBench(b *testing.B) *tickBench {
	b.Helper()
	const stored = 100_000
	made := newBench(b)
	bench := &tickBench{bench: made, url: made.conn.Config().ConnString()}
	first := schedule.Schedule{Name: "first", Every: time.Hour, Job: *made.jobs(1, 1)[0]}
	if _, err := made.store.PutSchedule(b.Context(), first, false); err != nil {
		b.Fatal(err)
	}
	multiplySchedules(b, bench.url, stored, 0)
	exec(b, bench.url, fmt.Sprintf("update fairlead_cursor set enabled = true, fire_at = case when schedule <= %d then schedule else fire_at end", b.N+1))
	exec(b, bench.url, "vacuum analyze")
	return bench
}

func (b *tickBench) measureTicks() {
	b.Helper()
	b.measure(func() { b.ticks(b.N) })
	b.ReportMetric(1e3*b.Elapsed().Seconds()*atOnce/float64(b.N), "ms/tick")
}

// ticks acts upon so many schedules.
func (b *tickBench) ticks(n int) {
	for n > 0 {
		ticked, err := b.store.Tick(b.Context(), atOnce, func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan := schedule.Plan{Cursor: s.Cursor}
			if !s.FireAt.After(view.Now) {
				plan.Fires = []schedule.PlannedFire{{Due: s.Due, Trigger: schedule.TriggerCron, Number: 1}}
				plan.Cursor = schedule.Cursor{Due: view.Now.Add(time.Hour), FireAt: view.Now.Add(time.Hour)}
			}
			return plan
		})
		if err != nil || ticked.Schedules == 0 {
			b.Fatalf("a tick did %+v: %v", ticked, err)
		}
		n -= ticked.Schedules
	}
}
