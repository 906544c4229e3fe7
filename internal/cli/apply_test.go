package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFileOfAllThatHasSettingsIsComparedAndThenApplied(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`
tenants:
  - {name: web, parent: shop, rate: 5}
  - {name: shop, max_running: 10, labels: {team: web}}
limits: [{scope: "queue:mail", max_running: 3}]
sweeps: [{name: all, kind: count, to: 100, rate: 2}]
alerts: [{name: pager, url: "http://127.0.0.1:1/hook", headers: {X-Team: web}}]
---
calendars: [{name: feast, dates: ["12-25"]}]
schedules: [{name: nightly, cron: "0 3 L-3W * *", calendar: feast, job: {kind: noop, tenant: shop}}]
`)
	r.says([]string{
		"+ tenant shop\n    max_running: (none) -> 10\n    labels: (none) -> team=web\n+ tenant web\n    parent: (none) -> shop\n    rate: (none) -> 5\n    burst: (none) -> 1\n",
		"+ limit queue:mail\n    max_running: (none) -> 3\n+ calendar feast\n",
		"+ nightly\n    cron: (none) -> 0 0 3 L-3W * *\n",
		"+ sweep all\n    kind: (none) -> count\n    to: (none) -> 100\n    rate: (none) -> 2\n",
		"+ alert pager\n    url: (none) -> http://127.0.0.1:1/hook\n    headers: (none) -> X-Team=web\n7 of 7 entries differ\n",
	}, "apply", "-f", file, "--dry-run")
	r.fails(ExitNotFound, "shop", "tenant", "get", "shop")
	r.fails(ExitUsage, "--yes", "apply", "-f", file)
	r.says([]string{"7 of 7 entries changed"}, "apply", "-f", file, "--yes")
	r.says([]string{"0 of 7 entries differ"}, "apply", "-f", file, "--yes")

	r.typed(ExitOK, "tenant", "pause", "shop")
	write("tenants: [{name: shop, max_running: 12}]\nlimits: [{scope: 'queue:mail'}]\nsweeps: [{name: all, rate: 4}]\nalerts: [{name: pager, url: 'http://127.0.0.1:1/hook', quiet: 300s}]\n")
	r.says([]string{
		"~ tenant shop\n    max_running: 10 -> 12\n    labels: team=web -> (none)\n~ limit queue:mail\n    max_running: 3 -> (none)\n~ sweep all\n    rate: 2 -> 4\n~ alert pager\n    quiet: 1m0s -> 5m0s\n    headers: X-Team=web -> (none)\n4 of 4 entries changed\n",
	}, "apply", "-f", file, "--yes")
	if got := r.document("tenant", "get", "shop"); got["paused"] != true || got["max_running"] != 12.0 {
		t.Errorf("applied, the tenant is %v", got)
	}
	if got := r.document("sweep", "get", "all"); got["rate"] != 4.0 || got["to"] != "100" {
		t.Errorf("applied, the sweep is %v", got)
	}
	write("tenants: [{name: shop, max_running: 12, paused: false}]\n")
	r.says([]string{"~ tenant shop\n    paused: yes -> (none)\n1 of 1 entries changed"}, "apply", "-f", file, "--yes")
	for text, want := range map[string]string{
		"tenants: [{max_running: 3}]\n":           "tenant without a name",
		"limits: [{scope: a}, {scope: a}]\n":      "more than one limit with the scope a",
		"sweeps: {name: a}\n":                     "sweeps must be a list",
		"tenants: [{name: a, max_runner: 3}]\n":   "max_runner",
		"tenants: []\nteams: []\n":                `unknown list "teams"; use one of`,
		"tenants: [{name: a, max_running: -1}]\n": "max_running",
	} {
		write(text)
		if want == "max_running" {
			r.fails(ExitUsage, want, "apply", "-f", file, "--yes")
			continue
		}
		r.fails(ExitUsage, want, "apply", "-f", file, "--dry-run")
	}
}

func TestWhatIsExportedIsAppliedElsewhere(t *testing.T) {
	here, there := newRig(t), newRig(t)
	exported := func(from *rig, format string) string {
		t.Helper()
		file, _ := from.typed(ExitOK, "export", "-o", format)
		return file
	}
	if file := exported(here, "yaml"); file != "" {
		t.Errorf("nothing is exported as %q", file)
	}
	here.typed(ExitOK, "tenant", "create", "shop", "--max-running", "10", "--rate", "3")
	here.typed(ExitOK, "tenant", "create", "web", "--parent", "shop")
	here.typed(ExitOK, "tenant", "pause", "web")
	here.typed(ExitOK, "limit", "set", "queue:mail", "--rate", "50")
	here.typed(ExitOK, "calendar", "create", "feast", "--date", "12-25")
	here.typed(ExitOK, "schedule", "create", "nightly", "noop", "--cron", "0 3 * * *", "--calendar", "feast")
	here.typed(ExitOK, "schedule", "disable", "nightly")
	here.typed(ExitOK, "sweep", "create", "all", "--kind", "count", "--to", "100")
	here.typed(ExitOK, "alert", "set", "pager", "--url", "http://127.0.0.1:1/hook", "--body", "{{args.event}}")
	for _, format := range []string{"yaml", "json"} {
		file := filepath.Join(t.TempDir(), "cluster."+format)
		if err := os.WriteFile(file, []byte(exported(here, format)), 0o600); err != nil {
			t.Fatal(err)
		}
		here.says([]string{"0 of 7 entries differ"}, "apply", "-f", file, "--dry-run")
		there.typed(ExitOK, "apply", "-f", file, "--yes")
		there.says([]string{"0 of 7 entries differ"}, "apply", "-f", file, "--dry-run")
	}
	if was, is := exported(here, "yaml"), exported(there, "yaml"); was != is {
		t.Errorf("%s\nwas exported, and is there\n%s", was, is)
	}
}

func TestWhoAmISaysWhoAsksWhichServer(t *testing.T) {
	r := newRig(t)
	r.says([]string{": role admin for all tenants on " + r.url}, "whoami")
	if got := r.document("whoami"); got["role"] != "admin" {
		t.Errorf("as JSON it is %v", got)
	}
}

func TestAKindIsPausedAndResumed(t *testing.T) {
	r := newRig(t)
	r.says([]string{"kind noop paused"}, "kind", "pause", "noop", "--reason", "faulty release")
	r.says([]string{"noop", "faulty release"}, "kind", "list")
	r.says([]string{"NAME", "noop", "yes"}, "kind", "list")
	r.typed(ExitOK, "job", "enqueue", "noop")
	r.says([]string{"kind \"noop\" is paused (faulty release)"}, "job", "explain", "1")
	r.says([]string{"kind noop resumed"}, "kind", "resume", "noop")
	r.typed(ExitOK, "job", "enqueue", "noop", "--wait")
}

func TestATimingThatIsNotStoredIsPreviewed(t *testing.T) {
	r := newRig(t)
	r.says([]string{"03:00:00 CE"}, "schedule", "preview", "--cron", "0 3 * * Monday", "--timezone", "Europe/Paris", "-n", "2")
	r.fails(ExitUsage, "specify NAME or schedule flags", "schedule", "preview")
	r.fails(ExitUsage, "not both", "schedule", "preview", "nightly", "--cron", "@daily")
	r.fails(ExitUsage, `"noday" is not valid; use 0 to 7`, "schedule", "preview", "--cron", "0 3 * * noday")
}

func TestTasksHaveCommands(t *testing.T) {
	r := newRig(t)
	r.says([]string{"ping", "ENABLED"}, "task", "create", "ping", "--cron-expr", "0 3 1 1 *", "--target-url", "http://127.0.0.1:1/ping",
		"--http-method", "GET", "--headers-json", `{"X-A":"b"}`, "--timeout-seconds", "2")
	r.says([]string{"ping", "0 0 3 1 1 *", "GET http://127.0.0.1:1/ping"}, "task", "list")
	r.says([]string{"task ping disabled"}, "task", "disable", "ping")
	r.says([]string{"DISABLED"}, "task", "list", "--status", "DISABLED")
	r.says([]string{"task ping enabled"}, "task", "enable", "ping")
	r.typed(ExitOK, "task", "update", "ping", "--description", "are you there?", "--clear", "headers_json")
	if got := r.document("task", "get", "ping"); got["description"] != "are you there?" || got["timeout_seconds"] != 2.0 || got["headers_json"] != "{}" {
		t.Errorf("changed, it is %v", got)
	}
	r.says([]string{"run ", " of task ping: SCHEDULED"}, "task", "trigger", "ping")
	runs := r.document("task", "runs", "ping")["items"].([]any)
	id := runs[0].(map[string]any)["id"].(string)
	r.says([]string{"ID", "SCHEDULED"}[1:], "task", "run", id)
	r.says([]string{"run " + id + ": CANCELED"}, "task", "cancel", id, "--reason", "enough")
	r.says([]string{"task ping deleted"}, "task", "delete", "ping")
	r.fails(ExitNotFound, "ping", "task", "get", "ping")
}
