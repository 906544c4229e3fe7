package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// lines writes a file for a test.
func (r *rig) lines(name, text string) string {
	r.Helper()
	file := filepath.Join(r.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
	return file
}

// untilHandled waits for a node that handles batches.
func (r *rig) untilHandled() {
	r.Helper()
	r.until(r.id("job", "enqueue", "noop"), "succeeded")
}

// untilBatch waits until a batch meets a condition.
func (r *rig) untilBatch(id, what string, holds func(batch map[string]any) bool) {
	r.Helper()
	deadline := time.After(patience.Limit)
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for !holds(r.document("batch", "get", id)) {
		select {
		case <-deadline:
			r.Fatalf("batch %s is not %s: %v", id, what, r.document("batch", "get", id))
		case <-ticks.C:
		}
	}
}

// madeSchedule creates a schedule that is never due and returns its ID.
func (r *rig) madeSchedule() string {
	r.Helper()
	return r.document("schedule", "create", "never", "noop", "--at", "2100-01-01T00:00:00Z")["id"].(string)
}

const someWalls = "target_id,target_type,before,after\n" +
	"1,wall,\"{\"\"colour\"\":\"\"white\"\"}\",\"{\"\"colour\"\":\"\"red\"\"}\"\n2,wall,1,2\n3,wall,1,2\n"

func TestABatchOfAFileIsAwaitedAndRolledBack(t *testing.T) {
	r := newRig(t)
	r.untilHandled()
	file := r.lines("walls.csv", someWalls)
	got := r.says([]string{"success  3 of 3"}, "batch", "create", "-f", file, "--type", "paint", "--wait", "--creator", "ada", "--task-timeout", "5s", "--info", `{"n":1}`)
	id := strings.Fields(got)[1]
	batch := r.document("batch", "get", id)
	if batch["name"] != "walls" || batch["creator"] != "ada" || batch["timeout"] != "5s" {
		t.Errorf("it is %v", batch)
	}
	r.says([]string{"walls", "paint", "success"}, "batch", "list", "--type", "paint")
	r.says([]string{"TARGET", "wall", "success"}, "batch", "tasks", id)
	if jobs := r.document("job", "list", "--batch", id); len(jobs["items"].([]any)) != 3 {
		t.Errorf("its jobs are %v", jobs)
	}
	r.says([]string{"succeeded     3\n", "total         3\n"}, "job", "count", "--batch", id)
	r.fails(ExitUsage, "--batch: cannot be combined", "job", "list", "--batch", id, "--schedule", r.madeSchedule())
	if open := r.document("batch", "list", "--open"); len(open["items"].([]any)) != 0 {
		t.Errorf("open are %v", open)
	}
	r.says([]string{"WOULD RESTORE", `{"colour":"white"}`}, "batch", "rollback", id, "--dry-run")
	if r.document("batch", "get", id)["state"] != "success" {
		t.Error("a dry run has changed it")
	}
	r.says([]string{"rollback_success  3 of 3"}, "batch", "rollback", id, "--serial", "--wait")
	r.fails(ExitConflict, "rollback_success", "batch", "rollback", id)
	r.fails(ExitConflict, "rollback_success", "batch", "retry", id)
	r.says([]string{"batch 1: rollback_success"}, "batch", "watch", id)
}

func TestABatchThatFailsEndsWithItsFailures(t *testing.T) {
	r := newRig(t)
	r.untilHandled()
	r.stdin = strings.NewReader(`{"name":"lines","type":"paint"}` + "\n" + `{"target":{"id":"1","type":"wall"}}` + "\n" + `{"target":{"id":"wet2","name":"north","type":"wall"}}`)
	stdout, stderr := r.typed(ExitJobFailed, "batch", "create", "-f", "-", "--wait")
	for _, want := range []string{"partial_fail  2 of 2  1 failed", "wet2", "north", "the wall is wet"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "1 of 2 tasks failed") || strings.Contains(stdout+stderr, "\x1b") {
		t.Errorf("the error is %q", stderr)
	}
	id := strings.Fields(stdout)[1]
	task := r.document("batch", "tasks", id, "--state", "fail")["items"].([]any)[0].(map[string]any)
	r.typed(ExitJobFailed, "batch", "retry", id, "--task", task["id"].(string), "--wait")
	r.fails(ExitJobFailed, "partial_fail", "batch", "watch", id)
	r.fails(ExitConflict, "", "batch", "cancel", id)
	r.says([]string{"rollback"}, "batch", "rollback", id, "--include-failed")
}

func TestABatchIsSteeredFromTheCommandLine(t *testing.T) {
	r := newRig(t)
	r.untilHandled()
	file := r.lines("walls.csv", someWalls)
	id := r.id("batch", "create", "-f", file, "--type", "paint", "--canary", "1", "--stop-after", "5")
	r.untilBatch(id, "awaiting", func(b map[string]any) bool { return b["awaiting"] == true })
	r.says([]string{"awaiting approval"}, "batch", "list", "--open")
	r.says([]string{"paused: lunch"}, "batch", "pause", id, "--reason", "lunch")
	r.says([]string{"max running", "7"}, "batch", "set", id, "--max-running", "7", "--rate", "100")
	r.fails(ExitUsage, "--max-running", "batch", "set", id)
	r.fails(ExitUsage, "--rate", "batch", "set", id, "--rate", "-1")
	r.says([]string{"awaiting approval"}, "batch", "resume", id)
	r.says([]string{"batch " + id}, "batch", "approve", id)
	r.says(nil, "batch", "watch", id)

	id = r.id("batch", "create", "-f", file, "--type", "paint", "--canary", "1")
	r.fails(ExitFailure, "did not complete within", "batch", "create", "-f", file, "--type", "paint", "--canary", "1", "--wait=2s")
	r.says([]string{"batch 2: cancel (enough)"}, "batch", "cancel", id, "--reason", "enough")
	r.fails(ExitJobFailed, "cancel", "batch", "watch", id)
}

func TestABatchThatIsRefusedSaysWhy(t *testing.T) {
	r := newRig(t)
	r.untilHandled()
	file := r.lines("walls.csv", "target_id,target_type\n1,wall\n2,roof\n")
	r.fails(ExitUsage, "line 3, target_type: ", "batch", "create", "-f", file, "--type", "paint")
	r.fails(ExitUsage, "no live node handles", "batch", "create", "-f", file, "--type", "sand")
	r.fails(ExitUsage, "type: is required", "batch", "create", "-f", file)
	r.fails(ExitUsage, "--file", "batch", "create", "--type", "paint")
	r.fails(ExitUsage, "no such file", "batch", "create", "-f", file+"x", "--type", "paint")
	r.fails(ExitNotFound, "77", "batch", "get", "77")
	r.fails(ExitNotFound, "77", "batch", "watch", "77")
	r.fails(ExitUsage, "must be a positive integer", "batch", "tasks", "walls")
	r.url = "http://127.0.0.1:1"
	r.fails(ExitUnavailable, "cannot reach", "batch", "create", "-f", file, "--type", "paint")
}
