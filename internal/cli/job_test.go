package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJobsAreEnqueuedShownAndMoved(t *testing.T) {
	r := newRig(t)
	later := r.id("job", "enqueue", "noop", "--args", `{"n":1}`, "--not-before", "1h", "--start-by", "2h", "--tenant", "acme", "--queue", "mail",
		"--priority", "3", "--key", "k", "--key-scope", "forever", "--concurrency-key", "c", "--max-attempts", "2", "--timeout", "20s", "--on-crash", "cancel")
	job := r.document("job", "get", later)
	for field, want := range map[string]any{
		"kind": "noop", "tenant": "acme", "queue": "mail", "priority": 3.0, "key": "k", "key_scope": "forever", "concurrency_key": "c",
		"max_attempts": 2.0, "timeout": "20s", "on_crash": "cancel", "state": "scheduled",
	} {
		if job[field] != want {
			t.Errorf("%s is %v, want %v", field, job[field], want)
		}
	}
	if again := r.id("job", "enqueue", "noop", "--tenant", "acme", "--key", "k", "--on-duplicate", "keep"); again != later {
		t.Errorf("the same key made job %s beside job %s", again, later)
	}
	r.says([]string{"state", "scheduled", `{"n":1}`}, "job", "get", later)
	r.says([]string{"kind: noop", `id: "` + later + `"`}, "job", "get", later, "-o", "yaml")
	r.says([]string{"is scheduled and cannot start yet:\n  - it is not due until", "estimated start: 20"}, "job", "explain", later)
	r.says([]string{"ATTEMPT", "REASON"}, "job", "attempts", later)
	r.says([]string{"has priority 7"}, "job", "priority", later, "7")
	r.says([]string{"is scheduled"}, "job", "reschedule", later, "--not-before", "2100-01-01T00:00:00Z")
	r.says([]string{"2100-01-01"}, "job", "list", "--tenant", "acme")
	r.says([]string{"was cancelled"}, "job", "cancel", later, "--reason", "not needed")
	r.says([]string{"not needed"}, "job", "list", "--state", "cancelled,failed", "--kind", "noop", "--queue", "mail", "--key", "k", "--from", "1h")
	r.typed(ExitOK, "queue", "pause", "mail") // otherwise it would run immediately
	r.says([]string{"is ready"}, "job", "retry", later)
	r.typed(ExitOK, "queue", "resume", "mail")
	r.says([]string{"succeeded"}, "job", "retry", r.cancelled(), "--wait")
	gone := r.cancelled()
	r.says([]string{"job " + gone + " deleted"}, "job", "delete", gone)
}

// cancelled returns the ID of a cancelled job.
func (r *rig) cancelled() string {
	r.Helper()
	id := r.id("job", "enqueue", "noop", "--not-before", "1h")
	r.typed(ExitOK, "job", "cancel", id)
	return id
}

func TestWaitingTellsHowJobsEnded(t *testing.T) {
	r := newRig(t)
	r.says([]string{"job 1 succeeded"}, "job", "enqueue", "noop", "--wait")
	if job := r.document("job", "enqueue", "noop", "--wait"); job["state"] != "succeeded" {
		t.Errorf("the job is %v", job)
	}
	r.fails(ExitJobFailed, "job 3 has failed: it is broken", "job", "enqueue", "broken", "--wait=1m")
	r.fails(ExitJobFailed, "it is broken", "job", "watch", "3")
	r.fails(ExitJobFailed, "it is broken", "job", "retry", "3", "--wait")
	r.says([]string{"job 1: succeeded"}, "job", "watch", "1")
	later := r.id("job", "enqueue", "noop", "--not-before", "1h")
	r.fails(ExitFailure, "did not end within 50ms", "job", "enqueue", "noop", "--not-before", "1h", "--wait=50ms")
	r.says([]string{"succeeded"}, "job", "run", later, "--wait")
	r.says([]string{"fatal", "it is broken"}, "job", "attempts", "3")
	r.says([]string{"job 3 has failed\nattempt ", "(fatal): it is broken"}, "job", "explain", "3")
}

func TestJobsThatWaitAreAnsweredFor(t *testing.T) {
	r := newRig(t)
	first, second := r.id("job", "enqueue", "asks"), r.id("job", "enqueue", "asks")
	r.until(first, "waiting")
	r.until(second, "waiting")
	deadline := r.document("job", "get", first)["deadline"].(string)[:len("2006-01-02T15:04:05")] // without fractions of a second
	r.says([]string{
		"job " + first + " is waiting: its target accepted it and has not reported a result yet\n",
		"without a result, the attempt fails " + deadline + "Z\n",
		"to report a result on behalf of the target, run fairlead job finish " + first + " or fairlead job fail " + first + "\n",
	}, "job", "explain", first)
	r.stdin = strings.NewReader(`{"answer": 42}`)
	r.says([]string{"job 1 has succeeded"}, "job", "finish", first, "--result", "-")
	if out := fmt.Sprint(r.document("job", "get", first)["output"]); out != "map[answer:42]" {
		t.Errorf("the output is %s", out)
	}
	r.says([]string{"has failed"}, "job", "fail", second, "--error", "no")
	r.fails(ExitConflict, "it is failed", "job", "fail", second, "--error", "no")
	r.fails(ExitUsage, "--error: is required", "job", "fail", second)
	r.fails(ExitUsage, "--result is not valid JSON", "job", "finish", first, "--result", "{")
}

func TestJobsOfAFileAreStoredTogether(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(t.TempDir(), "jobs.json")
	if err := os.WriteFile(file, []byte(`[{"kind":"noop","not_before":"2100-01-01T00:00:00Z"},{"kind":"noop","key":"x"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if ids := r.id("job", "enqueue", "--file", file); ids != "1\n2" {
		t.Errorf("the ids are %q", ids)
	}
	r.stdin = strings.NewReader(`{"jobs":[{"kind":"noop"}]}`)
	if answer := fmt.Sprint(r.document("job", "enqueue", "--file", "-")); answer != "map[ids:[3]]" {
		t.Errorf("the answer is %s", answer)
	}
	for want, text := range map[string]string{
		"jobs[1].priority: is \"x\"":            `[{"kind":"noop"},{"kind":"noop","priority":"x"}]`,
		"jobs[0].kind: is required\njobs[1].ki": `[{"priority":1},{}]`,
		"is not JSON":                           `[`,
	} {
		r.stdin = strings.NewReader(text)
		r.fails(ExitUsage, want, "job", "enqueue", "--file", "-")
	}
	r.fails(ExitUsage, "set it in the file", "job", "enqueue", "--file", file, "--priority", "1")
	r.fails(ExitUsage, "not both", "job", "enqueue", "noop", "--file", file)
	r.fails(ExitUsage, "no such file", "job", "enqueue", "--file", file+"x")
}

func TestListsFetchAsManyPagesAsNeeded(t *testing.T) {
	r := newRig(t)
	r.stdin = strings.NewReader("[" + strings.Repeat(`{"kind":"nobody knows it"},`, 1499) + `{"kind":"nobody knows it"}]`)
	r.typed(ExitOK, "job", "enqueue", "--file", "-")
	for limit, want := range map[string]int{"1": 1, "0": 1500, "1200": 1200, "5000": 1500} {
		all := r.document("job", "list", "--limit", limit)
		if got := len(all["items"].([]any)); got != want {
			t.Errorf("--limit %s shows %d, want %d", limit, got, want)
		}
	}
	stdout, stderr := r.typed(ExitOK, "job", "list")
	if lines := strings.Count(stdout, "\n"); lines != 101 || !strings.Contains(stderr, "use --limit 0 to show all") {
		t.Errorf("%d lines, and %q", lines, stderr)
	}
	r.fails(ExitUsage, "--limit -1", "job", "list", "--limit", "-1")
}

func TestJobsAreCounted(t *testing.T) {
	r := newRig(t)
	r.id("job", "enqueue", "noop", "--not-before", "1h", "--tenant", "acme")
	r.cancelled()
	r.says([]string{"STATE      JOBS\nscheduled     1\n", "running       0\n", "cancelled     1\n", "total         2\n"}, "job", "count")
	r.says([]string{"STATE      JOBS\ncancelled     0\ntotal         0\n"}, "job", "count", "--tenant", "acme", "--state", "cancelled")
	r.says([]string{"total         1\n"}, "job", "count", "--finished-from", "1h", "--kind", "noop", "--queue", "default", "--from", "1h")
	if answer := r.document("job", "count", "--state", "cancelled"); fmt.Sprint(answer) != "map[states:[map[count:1 state:cancelled]] total:1]" {
		t.Errorf("the answer is %v", answer)
	}
	r.fails(ExitUsage, "--at-most: is 10001", "job", "count", "--at-most", "10001")
	r.fails(ExitNotFound, "", "job", "count", "--batch", "77")
	r.fails(ExitNotFound, "", "job", "count", "--schedule", "none")

	r.stdin = strings.NewReader("[" + strings.Repeat(`{"kind":"unknown"},`, 1499) + `{"kind":"unknown"}]`)
	r.typed(ExitOK, "job", "enqueue", "--file", "-")
	if _, stderr := r.typed(ExitOK, "job", "count", "--kind", "unknown", "--from", "1h", "--at-most", "1000"); !strings.Contains(stderr, "there may be more") {
		t.Errorf("that counting stopped is told as %q", stderr)
	}
	if _, stderr := r.typed(ExitOK, "job", "count", "--kind", "unknown"); stderr != "" {
		t.Errorf("all are counted, and %q", stderr)
	}
}

func TestJobsThatEndedLatelyAreChosen(t *testing.T) {
	r := newRig(t)
	live, ended := r.id("job", "enqueue", "noop", "--not-before", "1h"), r.cancelled()
	list := func(from string) (ids []string) {
		for _, item := range r.document("job", "list", "--finished-from", from)["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		return ids
	}
	if got := list("1h"); len(got) != 1 || got[0] != ended {
		t.Errorf("listed are %v, want %s and not %s", got, ended, live)
	}
	if got := list("2100-01-01"); len(got) != 0 {
		t.Errorf("listed are %v", got)
	}
	r.says([]string{"would affect 0 jobs"}, "job", "bulk", "delete", "--finished-from", "2100-01-01", "--dry-run")
	r.says([]string{"applied to 1 job\n"}, "job", "bulk", "delete", "--finished-from", "1h", "--yes")
}

func TestBulkIsAskedBack(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.id("job", "enqueue", "noop", "--not-before", "1h", "--tenant", "acme")
	}
	r.fails(ExitUsage, "add --yes", "job", "bulk", "cancel", "--tenant", "acme")
	r.says([]string{"would affect 3 jobs"}, "job", "bulk", "cancel", "--tenant", "acme", "--dry-run")
	r.says([]string{"cancel: applied to 1 job\n"}, "job", "bulk", "cancel", "--tenant", "acme", "--id", "1", "--yes", "--reason", "why")
	if answer := r.document("job", "bulk", "cancel", "--tenant", "acme", "--yes"); answer["done"] != "2" {
		t.Errorf("the answer is %v", answer)
	}
	r.says([]string{"retry: applied to 3 jobs"}, "job", "bulk", "retry", "--state", "cancelled")
	r.fails(ExitUsage, "use cancel, retry, run, delete", "job", "bulk", "explode")
	r.fails(ExitUsage, "--state", "job", "bulk", "run", "--state", "succeeded")
}
