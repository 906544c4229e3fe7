package sim

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// threeSeconds is a schedule that was due three times and had a run each time.
func threeSeconds() Record {
	r := Record{Schedules: []int64{7}, Span: Span{From: 0, To: Instant(3 * time.Second / time.Microsecond)}}
	for i := range 3 {
		r.Fires = append(r.Fires, Fired{Schedule: 7, Due: r.Span.From.Add(time.Duration(i) * time.Second), Job: int64(i + 1), Trigger: fairlead.TriggerCron})
	}
	return r
}

func TestCheckWantsOneRunEach(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Record)
		want  int // violations
	}{
		"as it should be": {func(*Record) {}, 0},
		"caught up":       {func(r *Record) { r.Fires[1].Trigger = fairlead.TriggerCatchUp }, 0},
		"one is missing":  {func(r *Record) { r.Fires = r.Fires[1:] }, 1},
		"one is there twice": {func(r *Record) {
			again := r.Fires[0]
			again.Job = 9
			r.Fires = append(r.Fires, again)
		}, 1},
		"one was not due":   {func(r *Record) { r.Fires[2].Due++ }, 2},
		"one after the end": {func(r *Record) { r.Span.To = r.Span.To.Add(-time.Second) }, 1},
		"one was skipped":   {func(r *Record) { r.Fires[0].Skip = fairlead.SkipOverlap }, 1},
		"one by hand":       {func(r *Record) { r.Fires[0].Trigger = fairlead.TriggerManual }, 1},
		"of another":        {func(r *Record) { r.Fires[0].Schedule = 8 }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			record := threeSeconds()
			c.spoil(&record)
			judge := &check{Record: record}
			judge.oneRunEach()
			if len(judge.violations) != c.want {
				t.Errorf("there are %d violations, want %d: %v", len(judge.violations), c.want, judge.violations)
			}
		})
	}
}
