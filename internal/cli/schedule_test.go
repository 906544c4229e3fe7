package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASchedulesLifeOnTheCommandLine(t *testing.T) {
	r := newRig(t)
	r.says([]string{"feast", "sunday"}, "calendar", "create", "feast", "--weekday", "sunday", "--date", "12-25", "--range", "2100-08-01..2100-08-15")
	r.says([]string{"saturday, sunday", "12-25"}, "calendar", "update", "feast", "--weekday", "saturday,sunday")
	r.fails(ExitUsage, "FROM..TO", "calendar", "update", "feast", "--range", "2100-08-01")
	r.says([]string{"nightly", "0 3 * * *", "Europe/Paris"}, "schedule", "create", "nightly", "noop",
		"--cron", "0 3 * * *", "--timezone", "Europe/Paris", "--calendar", "feast", "--args", `{"n":1}`, "--tenant", "acme")
	r.fails(ExitConflict, "", "schedule", "create", "nightly", "noop", "--every", "1h")
	r.fails(ExitUsage, "--cron", "schedule", "create", "other", "noop", "--cron", "61 * * * *")
	got := r.document("schedule", "update", "nightly", "--daily", "03:00", "--max-attempts", "3")
	if job := got["job"].(map[string]any); got["cron"] != nil || got["timezone"] != "Europe/Paris" || job["max_attempts"] != 3.0 || job["tenant"] != "acme" {
		t.Errorf("changed, it is %v", got)
	}
	r.says([]string{"nightly", "acme", "daily 03:00"}, "schedule", "list")
	r.says([]string{"schedule nightly disabled"}, "schedule", "disable", "nightly", "--reason", "holidays")
	r.says([]string{"at 03:00 every day (Europe/Paris)", "feast", "it is disabled: holidays"}, "schedule", "explain", "nightly")
	r.says([]string{"schedule nightly enabled"}, "schedule", "enable", "nightly")
	r.says([]string{"03:00:00 CE"}, "schedule", "preview", "nightly", "-n", "2")
	id := r.id("schedule", "trigger", "nightly", "--args", `{"n":2}`)
	r.until(id, "succeeded")
	r.says([]string{id, "manual"}, "schedule", "runs", "nightly")
	r.says([]string{"succeeded"}, "job", "list", "--schedule", "nightly")
	r.says([]string{"success rate  1"}, "schedule", "stats", "nightly")
	r.says([]string{"runs, from ", "T02:00:00Z"}, "schedule", "backfill", "nightly", "--from", "10d", "--to", "1h", "--dry-run")
	r.fails(ExitUsage, "trigger a run instead", "schedule", "test", "nightly")
	r.says([]string{"runs created"}, "schedule", "backfill", "nightly", "--from", "10d", "--to", "1h")
	r.fails(ExitConflict, "", "calendar", "delete", "feast")
	r.says([]string{"schedule nightly deleted"}, "schedule", "delete", "nightly")
	r.fails(ExitNotFound, "nightly", "schedule", "get", "nightly")
	r.says([]string{"calendar feast deleted"}, "calendar", "delete", "feast")
}

func TestACallIsTestedOnTheCommandLine(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/fine" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(target.Close)
	r := newRig(t)
	r.typed(ExitOK, "schedule", "create", "tea", "http", "--daily", "16:00", "--args", `{"url":"`+target.URL+`/fine"}`)
	r.says([]string{"success  yes", `"status":200`}, "schedule", "test", "tea")
	r.fails(ExitJobFailed, "a run of schedule tea would fail too", "schedule", "test", "tea", "--args", `{"url":"`+target.URL+`/pot"}`)
	r.says([]string{"success  yes", `"status":200`}, "schedule", "create", "cake", "http", "--daily", "16:00", "--args", `{"url":"`+target.URL+`/fine"}`, "--test")
	r.fails(ExitNotFound, "cake", "schedule", "get", "cake")
	r.fails(ExitJobFailed, "a run of schedule tea would fail too", "schedule", "update", "tea", "--args", `{"url":"`+target.URL+`/pot"}`, "--test")
	r.fails(ExitUsage, "", "schedule", "update", "tea", "--every", "1h", "--test", "--what-if")
	if got := fmt.Sprint(r.document("schedule", "get", "tea")); !strings.Contains(got, "/fine") {
		t.Errorf("the schedule was changed: %s", got)
	}
	if jobs := r.document("job", "list")["items"]; jobs != nil && len(jobs.([]any)) > 0 {
		t.Errorf("there are the jobs %v", jobs)
	}
}

func TestTheSoonestSchedulesAreListedInTheirOrder(t *testing.T) {
	r := newRig(t)
	for name, at := range map[string]string{"a": "2100-01-03", "b": "2100-01-01", "c": "2100-01-02"} {
		r.typed(ExitOK, "schedule", "create", name, "noop", "--at", at+"T00:00:00Z")
	}
	names := func(args ...string) (all string) {
		t.Helper()
		for _, item := range r.document(append([]string{"schedule", "list"}, args...)...)["items"].([]any) {
			all += item.(map[string]any)["name"].(string)
		}
		return all
	}
	for want, args := range map[string][]string{"abc": nil, "bca": {"--soonest"}, "bc": {"--soonest", "--limit", "2"}} {
		if got := names(args...); got != want {
			t.Errorf("%v lists %s, want %s", args, got, want)
		}
	}
	for _, limit := range []string{"0", "1001"} {
		r.fails(ExitUsage, "--limit "+limit+" must be from 1 to 1000 with --soonest", "schedule", "list", "--soonest", "--limit", limit)
	}
	r.fails(ExitUsage, "--soonest: cannot be combined with tenants", "schedule", "list", "--soonest", "--tenant", "acme")
}

func TestWhoIsToldOfASchedule(t *testing.T) {
	r := newRig(t)
	alert := func(args ...string) any {
		t.Helper()
		return r.document(append([]string{"schedule"}, args...)...)["alert"]
	}
	r.fails(ExitUsage, "url", "schedule", "create", "a", "noop", "--every", "1h", "--alert-on", "missed")
	made := alert("create", "a", "noop", "--every", "1h", "--alert-url", "https://example.org/a", "--alert-on", "failures,missed").(map[string]any)
	if made["url"] != "https://example.org/a" || len(made["on"].([]any)) != 2 || made["failures"] != 3.0 {
		t.Errorf("the alert is %v", made)
	}
	moved := alert("update", "a", "--alert-url", "https://example.org/b").(map[string]any)
	if on := moved["on"].([]any); moved["url"] != "https://example.org/b" || len(on) != 2 || on[1] != "missed" {
		t.Errorf("changed, it is %v", moved)
	}
	if gone := alert("update", "a", "--alert-url", ""); gone != nil {
		t.Errorf("removed, it is %v", gone)
	}
}

func TestAFileOfSchedulesIsComparedAndThenApplied(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(t.TempDir(), "schedules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("name: a\ncron: '0 3 * * *'\nends_at: 2100-01-01T00:00:00Z\njob:\n  kind: noop\n  args: {n: 1}\n---\nname: b\nevery: 1h\njob: {kind: noop}\n")
	r.says([]string{"+ a\n    cron: (none) -> 0 0 3 * * *", "+ b", "every: (none) -> 1h0m0s", "2 of 2 entries differ"}, "schedule", "apply", "-f", file, "--dry-run")
	r.fails(ExitNotFound, "a", "schedule", "get", "a")
	r.fails(ExitUsage, "--yes", "schedule", "apply", "-f", file)
	r.says([]string{"2 of 2 entries changed"}, "schedule", "apply", "-f", file, "--yes")
	r.says([]string{"0 of 2 entries differ"}, "schedule", "apply", "-f", file, "--yes")

	r.typed(ExitOK, "schedule", "disable", "b", "--reason", "over")
	exported, _ := r.typed(ExitOK, "schedule", "export")
	if strings.Contains(exported, "next_due") || strings.Contains(exported, "version") || !strings.Contains(exported, "\n---\n") {
		t.Errorf("exported as\n%s", exported)
	}
	write(exported)
	r.says([]string{"0 of 2 entries differ"}, "schedule", "apply", "-f", file, "--dry-run")

	write("name: b\ndaily: '04:00'\njob: {kind: noop, args: {n: 2}}\n")
	r.says([]string{"~ b", "every: 1h0m0s -> (none)", "daily: (none) -> 04:00", `job.args: (none) -> {"n":2}`}, "schedule", "apply", "-f", file, "--yes")
	if got := r.document("schedule", "get", "b"); got["enabled"] != false || got["reason"] != "over" || got["daily"] != "04:00" {
		t.Errorf("applied, it is %v", got)
	}
	for text, want := range map[string]string{
		"daily: '04:00'\n": "schedule without a name", "name: a\nmisfire: x\n": "misfire", "name: a\n---\nname: a\n": "more than one schedule", "name: [": "invalid YAML",
	} {
		write(text)
		r.fails(ExitUsage, want, "schedule", "apply", "-f", file, "--dry-run")
	}
	r.fails(ExitUsage, "--file", "schedule", "apply")
}

func TestAFileOfSchedulesCarriesTheirCalendarsToAnotherServer(t *testing.T) {
	r := newRig(t)
	r.typed(ExitOK, "calendar", "create", "feast", "--weekday", "sunday", "--date", "12-25", "--range", "2030-07-01..2030-08-31", "--description", "closed")
	r.typed(ExitOK, "calendar", "create", "unused", "--date", "01-01")
	r.typed(ExitOK, "schedule", "create", "a", "noop", "--daily", "03:00", "--calendar", "feast")
	r.typed(ExitOK, "schedule", "create", "b", "noop", "--every", "1h")
	exported, _ := r.typed(ExitOK, "schedule", "export")
	if !strings.Contains(exported, "calendars:\n- name: feast\n") || strings.Contains(exported, "unused") || strings.Contains(exported, "version") {
		t.Errorf("exported as\n%s", exported)
	}
	alone, _ := r.typed(ExitOK, "schedule", "export", "b")
	if strings.Contains(alone, "calendars") {
		t.Errorf("one without a calendar is exported as\n%s", alone)
	}

	fresh := newRig(t)
	file := filepath.Join(t.TempDir(), "schedules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(exported)
	shown := []string{
		"+ calendar feast\n    description: (none) -> closed\n    weekdays: (none) -> sunday\n    dates: (none) -> 12-25\n    ranges: (none) -> 2030-07-01..2030-08-31\n+ a\n",
		"3 of 3 entries differ",
	}
	fresh.says(shown, "schedule", "apply", "-f", file, "--dry-run")
	fresh.fails(ExitNotFound, "feast", "calendar", "get", "feast")
	fresh.says([]string{"3 of 3 entries changed"}, "schedule", "apply", "-f", file, "--yes")
	if got := fresh.document("schedule", "get", "a"); got["calendar"] != "feast" {
		t.Errorf("applied, it is %v", got)
	}
	again, _ := fresh.typed(ExitOK, "schedule", "export")
	if again != exported {
		t.Errorf("exported again as\n%s, want\n%s", again, exported)
	}
	fresh.says([]string{"0 of 3 entries differ"}, "schedule", "apply", "-f", file, "--yes")

	write(strings.Replace(exported, "- 12-25", "- 12-26", 1))
	fresh.says([]string{"~ calendar feast\n    dates: 12-25 -> 12-26\n1 of 3 entries changed"}, "schedule", "apply", "-f", file, "--yes")

	write("name: c\ndaily: '03:00'\ncalendar: holidays\njob: {kind: noop}\n")
	fresh.says([]string{"! calendar holidays is missing: schedule c refers to it"}, "schedule", "apply", "-f", file, "--dry-run")
	fresh.fails(ExitUsage, "refers to calendars that do not exist", "schedule", "apply", "-f", file, "--yes")
	fresh.fails(ExitNotFound, "c", "schedule", "get", "c")
	for text, want := range map[string]string{
		"calendars: [{dates: ['01-01']}]\n": "calendar without a name", "calendars: []\nname: c\n": "unknown list", "calendars: [{name: x, day: y}]\n": "day",
	} {
		write(text)
		fresh.fails(ExitUsage, want, "schedule", "apply", "-f", file, "--dry-run")
	}
}
