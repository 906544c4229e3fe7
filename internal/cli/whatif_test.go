package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIfShowsWhatWouldStartAndSavesNothing(t *testing.T) {
	r := newRig(t)
	r.typed(ExitOK, "tenant", "create", "acme", "--paused")
	id := r.id("job", "enqueue", "noop", "--tenant", "acme")
	r.says([]string{
		`tenant "acme", kind "noop", queue "default" would start sooner: 1 of 1 starts instead of 0; no longer held back because tenant "acme" is paused`,
		"BEFORE  AFTER  JOB", id, "starts", "STARTS BEFORE", "sooner", "nothing was saved",
	}, "tenant", "update", "acme", "--paused=false", "--what-if")
	r.says([]string{"the next starts would not change: 0 jobs for 50 slots"}, "limit", "set", "queue:mail", "--max-running", "3", "--what-if")
	r.says([]string{"the next starts would not change"}, "limit", "remove", "queue:mail", "--what-if")
	r.says([]string{"the next starts would not change"}, "tenant", "create", "beta", "--weight", "2", "--what-if")
	r.fails(ExitUsage, "already exists", "tenant", "create", "acme", "--what-if")
	r.fails(ExitUsage, "--min-running", "tenant", "update", "acme", "--max-running", "1", "--min-running", "2", "--what-if")
	got := r.document("tenant", "update", "acme", "--paused=false", "--what-if")
	if starts, _ := got["after"].([]any); len(starts) != 1 || got["slots"] != 50.0 {
		t.Errorf("the answer is %v", got)
	}
	if got := r.document("tenant", "get", "acme"); got["paused"] != true {
		t.Errorf("the tenant is %v", got)
	}
	r.fails(ExitNotFound, "beta", "tenant", "get", "beta")
}

func TestWhatIfShowsWhichInstantsMove(t *testing.T) {
	r := newRig(t)
	r.typed(ExitOK, "calendar", "create", "feast")
	r.typed(ExitOK, "schedule", "create", "nightly", "noop", "--daily", "03:00", "--calendar", "feast")
	r.says([]string{"SCHEDULE", "nightly", "(none)", "runs", "appears", "disappears", "nothing was saved"}, "schedule", "update", "nightly", "--daily", "04:00", "--what-if")
	r.says([]string{`schedule "nightly": `, "disappears"}, "calendar", "update", "feast", "--weekday", "monday", "--what-if")
	r.says([]string{`schedule "other": 50 of its next 50 fires would change`}, "schedule", "create", "other", "noop", "--every", "1h", "--what-if")
	r.fails(ExitUsage, "--cron", "schedule", "update", "nightly", "--cron", "61 * * * *", "--what-if")
	r.fails(ExitConflict, "", "schedule", "create", "nightly", "noop", "--every", "1h", "--what-if")
	r.fails(ExitNotFound, "other", "schedule", "get", "other")
}

func TestWhatIfOfAFileAsksAboutAllOfIt(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	text := `
tenants: [{name: web, parent: shop}, {name: shop, max_running: 10}]
limits: [{scope: "queue:mail", max_running: 3}]
calendars: [{name: feast, dates: ["12-25"]}]
schedules: [{name: nightly, cron: "0 3 * * *", calendar: feast, job: {kind: noop, tenant: shop}}]
sweeps: [{name: all, kind: count, to: 100, rate: 2}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.says([]string{"the next starts would not change", `schedule "nightly": 50 of its next 50 fires would change`}, "apply", "-f", file, "--what-if")
	r.fails(ExitNotFound, "shop", "tenant", "get", "shop")
	r.typed(ExitOK, "apply", "-f", file, "--yes")
	r.typed(ExitOK, "apply", "-f", file, "--what-if")
}
