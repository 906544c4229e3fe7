package schedule

import (
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestARunBelongsToATrace(t *testing.T) {
	s := &Schedule{}
	first, second := runOf(s, &PlannedFire{}).Trace, runOf(s, &PlannedFire{}).Trace
	if fairlead.TraceID(first) == "" || fairlead.TraceID(first) == fairlead.TraceID(second) {
		t.Errorf("two runs belong to %q and %q", first, second)
	}
	if trace := runOf(s, &PlannedFire{Skip: SkipOverlap}).Trace; trace != "" {
		t.Errorf("a skip belongs to %q", trace)
	}
	s.Job.Trace = first
	if trace := runOf(s, &PlannedFire{}).Trace; trace != first {
		t.Errorf("a run of a schedule with the trace %q belongs to %q", first, trace)
	}
}
