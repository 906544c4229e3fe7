package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// BenchmarkTick makes the runs of 500 schedules that are due, of very many that
// are stored: of such that never ran, and of such whose last run has ended since.
// It reports the times per run.
func BenchmarkTick(b *testing.B) {
	const due = 500
	for _, stored := range []int{1000, 100_000} {
		for _, ran := range []bool{false, true} {
			b.Run(fmt.Sprint("stored=", stored, "/ran=", ran), func(b *testing.B) {
				bench := newBench(b, 1)
				raw := rawDB(b, bench.url, nil)
				first := bench.plan(b, raw, stored)
				ticks := (b.N + due - 1) / due
				b.N = ticks * due //nolint:staticcheck // whole ticks only: the cost of each is divided by its runs
				var spent time.Duration
				bench.measure(b, func(int) {
					for tick := range ticks {
						b.StopTimer()
						from := first
						if ran {
							bench.run(b, due)
						} else {
							from += int64(tick * due % stored)
						}
						mustExec(b, raw, "update fairlead_schedule set due = due + 1000000, fire_at = 1, next_fire = 1 where id >= ? and id < ?", from, from+due)
						b.StartTimer()
						began := time.Now()
						bench.tick(b, due)
						spent += time.Since(began)
					}
				})
				b.ReportMetric(float64(spent.Microseconds())/1e3/float64(ticks), "ms/tick")
			})
		}
	}
}

// plan stores schedules, none of which is due, and returns the id of the first.
func (s *bench) plan(b *testing.B, raw *sql.DB, schedules int) int64 {
	b.Helper()
	schedule := schedule.Schedule{
		Name: "bench", Every: time.Minute, Job: fairlead.Job{Kind: "bench", Queue: "default", Tenant: "tenant 0", Args: []byte(`{"a":1}`)},
		Cursor: schedule.Cursor{Due: time.Now().Add(1000 * time.Hour), FireAt: time.Now().Add(1000 * time.Hour)},
	}
	stored, err := s.store.PutSchedule(context.Background(), schedule, false)
	if err != nil {
		b.Fatal(err)
	}
	const digits = "(select 0 as n union select 1 union select 2 union select 3 union select 4 union select 5 union select 6 union select 7 union select 8 union select 9)"
	mustExec(b, raw, `insert into fairlead_schedule (name, tenant, enabled, body, version, created_at, updated_at, due, fire_at, next_fire)
		select concat(name, '-', a.n, b.n, c.n, d.n, e.n), tenant, enabled, body, version, created_at, updated_at, due, fire_at, next_fire
		from fairlead_schedule, `+digits+" a, "+digits+" b, "+digits+" c, "+digits+" d, "+digits+" e limit ?", schedules)
	mustExec(b, raw, "analyze table fairlead_schedule")
	return stored.ID + 1
}

// tick runs what is due.
func (s *bench) tick(b *testing.B, due int) {
	b.Helper()
	ticked, err := s.store.Tick(context.Background(), due, func(s schedule.Schedule, view schedule.View) schedule.Plan {
		next := view.Now.Add(1000 * time.Hour)
		return schedule.Plan{
			Fires:  []schedule.PlannedFire{{Due: s.Due, Trigger: schedule.TriggerCron, Number: 1}},
			Cursor: schedule.Cursor{Due: next, FireAt: next},
		}
	})
	if err != nil || ticked.Runs != due {
		b.Fatalf("%d runs instead of %d: %v", ticked.Runs, due, err)
	}
}
