package cli

import (
	"strings"
	"testing"
)

func TestABulkIsCountedStartedAndAwaited(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.id("job", "enqueue", "unheard", "--queue", "full")
	}
	r.says([]string{"move would affect 3 jobs"}, "bulk", "start", "move", "--queue", "full", "--queue-to", "spare", "--dry-run")
	got := r.says([]string{": completed  3 of 3"}, "bulk", "start", "move", "--queue", "full", "--queue-to", "spare", "--reason", "full", "--wait")
	id := strings.TrimSuffix(strings.Fields(got)[2], ":")
	r.says([]string{"move", "completed", "full"}, "bulk", "list")
	r.says([]string{"spare"}, "bulk", "get", id)
	r.says([]string{": completed  3 of 3"}, "bulk", "watch", id)
	r.says([]string{"JOB", "REASON"}, "bulk", "misses", id)
	r.fails(ExitConflict, "has ended", "bulk", "stop", id)
	r.fails(ExitUsage, "add --yes", "bulk", "start", "cancel", "--queue", "spare")
	r.says([]string{"will cancel 3 jobs"}, "bulk", "start", "cancel", "--queue", "spare", "--yes")
	r.fails(ExitUsage, `unknown action "explode": use cancel`, "bulk", "start", "explode")
}

func TestABulkThatIsStartedTwiceWithTheSameKeyCountsOnce(t *testing.T) {
	r := newRig(t)
	r.id("job", "enqueue", "unheard")
	start := func(key string) string {
		return strings.Fields(r.says([]string{"will prioritize 1 job"}, "bulk", "start", "prioritize", "--kind", "unheard", "--priority", "4", "--once", key))[2]
	}
	first, again, other := start("k"), start("k"), start("l")
	if again != first || other == first {
		t.Errorf("the bulks are %s and %s, and with another key %s", first, again, other)
	}
}

func TestABulkThatWasStoppedIsAFailureOfItsCommand(t *testing.T) {
	r := newRig(t)
	for range 5 {
		r.id("job", "enqueue", "unheard")
	}
	id := strings.Fields(r.says([]string{"will prioritize 5 jobs"}, "bulk", "start", "prioritize", "--kind", "unheard", "--priority", "4", "--rate", "1"))[2]
	r.says([]string{"bulk action " + id + " is stopping"}, "bulk", "stop", id)
	r.fails(ExitJobFailed, "bulk action "+id+" stopped after ", "bulk", "watch", id)
}

func TestAJobIsMovedToAnotherQueue(t *testing.T) {
	r := newRig(t)
	id := r.id("job", "enqueue", "unheard")
	r.says([]string{"job " + id + " is ready in queue spare"}, "job", "move", id, "spare")
	if job := r.document("job", "get", id); job["queue"] != "spare" {
		t.Errorf("the job is %v", job)
	}
	r.says([]string{"cancelled"}, "job", "cancel", id)
	r.fails(ExitConflict, "it is cancelled", "job", "move", id, "elsewhere")
}
