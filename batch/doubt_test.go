package batch

import (
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestAnOrdinaryFailureAfterALostLeaseLeavesTheTaskInDoubt(t *testing.T) {
	failed := TaskEnd{State: fairlead.Failed, Reason: fairlead.ReasonFatal, Attempt: 1, Failures: 1}
	if mark := markOf(failed); mark != MarkFailed {
		t.Errorf("a task that failed at once is %q", mark)
	}
	failed.Attempt = 2 // the first was taken back from a node that lived: it counts as no crash
	if mark := markOf(failed); mark != MarkDoubt {
		t.Errorf("a task of which an earlier attempt may have been applied is %q", mark)
	}
}
