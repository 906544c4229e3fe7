package sqlstore

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestARunBelongsToATrace(t *testing.T) {
	s := &schedule.Schedule{}
	first, second := RunOf(s, &schedule.PlannedFire{}).Trace, RunOf(s, &schedule.PlannedFire{}).Trace
	if fairlead.TraceID(first) == "" || fairlead.TraceID(first) == fairlead.TraceID(second) {
		t.Errorf("two runs belong to %q and %q", first, second)
	}
	if trace := RunOf(s, &schedule.PlannedFire{Skip: schedule.SkipOverlap}).Trace; trace != "" {
		t.Errorf("a skip belongs to %q", trace)
	}
	s.Job.Trace = first
	if trace := RunOf(s, &schedule.PlannedFire{}).Trace; trace != first {
		t.Errorf("a run of a schedule with the trace %q belongs to %q", first, trace)
	}
}
