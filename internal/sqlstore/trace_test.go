package sqlstore

import (
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestARunBelongsToATrace(t *testing.T) {
	s := &fairlead.Schedule{}
	first, second := RunOf(s, &fairlead.PlannedFire{}).Trace, RunOf(s, &fairlead.PlannedFire{}).Trace
	if fairlead.TraceID(first) == "" || fairlead.TraceID(first) == fairlead.TraceID(second) {
		t.Errorf("two runs belong to %q and %q", first, second)
	}
	if trace := RunOf(s, &fairlead.PlannedFire{Skip: fairlead.SkipOverlap}).Trace; trace != "" {
		t.Errorf("a skip belongs to %q", trace)
	}
	s.Job.Trace = first
	if trace := RunOf(s, &fairlead.PlannedFire{}).Trace; trace != first {
		t.Errorf("a run of a schedule with the trace %q belongs to %q", first, trace)
	}
}
