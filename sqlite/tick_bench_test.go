package sqlite_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// BenchmarkTick is a tick with 500 due schedules of many that are stored.
func BenchmarkTick(b *testing.B) {
	const due = 500
	for _, stored := range []int{due, 20_000} {
		b.Run(fmt.Sprint(stored), func(b *testing.B) {
			s := benchStore(b)
			now := time.Now().Add(-time.Minute)
			job := *benchJobs(1)[0]
			var all sync.WaitGroup
			for part := range 32 {
				all.Go(func() {
					for i := part; i < stored; i += 32 {
						at := now
						if i >= due {
							at = now.Add(1000 * time.Hour)
						}
						schedule := schedule.Schedule{Name: fmt.Sprint("s", i), Job: job, Cursor: schedule.Cursor{Due: at, FireAt: at}}
						if _, err := s.PutSchedule(b.Context(), schedule, false); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			run := func(s schedule.Schedule, _ schedule.View) schedule.Plan {
				next := s.Due.Add(time.Microsecond)
				return schedule.Plan{
					Fires:  []schedule.PlannedFire{{Due: s.Due, Trigger: schedule.TriggerCron, Number: 1}},
					Cursor: schedule.Cursor{Due: next, FireAt: next},
				}
			}
			perJob(b, b.N*due, func() {
				for range b.N {
					ticked, err := s.Tick(b.Context(), due, run)
					must(b, err)
					if ticked.Runs != due {
						b.Fatalf("%d runs were made instead of %d", ticked.Runs, due)
					}
				}
			})
		})
	}
}
