package schedule_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// watched is minutely with an alert.
func watched(quiet time.Duration, on ...schedule.AlertEvent) schedule.Schedule {
	return minutely(func(s *schedule.Schedule) {
		s.Alert = &schedule.Alert{URL: "https://example.org/alerts", On: on, Failures: 3, Quiet: quiet}
		s.Cursor = schedule.Cursor{Due: noon.Add(time.Hour), FireAt: noon.Add(time.Hour)}
	})
}

// ends are runs that ended as the letters say: failed, succeeded, cancelled.
func ends(letters string) (ended []schedule.Fire) {
	for i, letter := range letters {
		state := map[rune]fairlead.State{'f': fairlead.Failed, 's': fairlead.Succeeded, 'c': fairlead.Cancelled}[letter]
		ended = append(ended, schedule.Fire{
			Job: int64(i + 1), Schedule: 1, Due: noon, Trigger: schedule.TriggerCron, Number: 1, State: state, EndedAt: noon.Add(time.Duration(i) * time.Second),
		})
	}
	return ended
}

// saidBy are the alerts of a plan, as the event and the failures in a row.
func saidBy(t *testing.T, plan schedule.Plan) string {
	t.Helper()
	var said []string
	for _, job := range plan.Alerts {
		var args struct {
			Vars struct {
				Event    string
				Failures int
				Missed   *int
				RunLater *int `json:"run_later"`
			}
		}
		if err := json.Unmarshal(job.Args, &args); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(args.Vars.Event, " ", args.Vars.Failures)
		if args.Vars.Missed != nil {
			text = fmt.Sprint(args.Vars.Event, " ", *args.Vars.Missed, " run ", *args.Vars.RunLater)
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

func TestWhoIsToldOfRunsThatEnded(t *testing.T) {
	const failure, failures, recovery = schedule.AlertFailure, schedule.AlertFailures, schedule.AlertRecovery
	for _, c := range []struct {
		name  string
		on    []schedule.AlertEvent
		quiet time.Duration
		looks []string // what ended before each look, ten seconds apart
		want  []string
	}{
		{"each failure", []schedule.AlertEvent{failure}, time.Second, []string{"f", "f", "s", "f"}, []string{"failure 1", "failure 2", "", "failure 1"}},
		{"one failure of a look", []schedule.AlertEvent{failure}, time.Second, []string{"fff"}, []string{"failure 1"}},
		{"quiet after a failure", []schedule.AlertEvent{failure}, 15 * time.Second, []string{"f", "f", "f"}, []string{"failure 1", "", "failure 3"}},
		{"so many in a row, once", []schedule.AlertEvent{failures}, time.Second, []string{"f", "f", "f", "ff", "sfff"}, []string{"", "", "failures 3", "", "failures 3"}},
		{"all within one look", []schedule.AlertEvent{failure, failures, recovery}, time.Second, []string{"fffs"}, []string{"failure 1, failures 3, recovery 3"}},
		{"recovery", []schedule.AlertEvent{failure, recovery}, time.Second, []string{"s", "f", "f", "s", "s"}, []string{"", "failure 1", "failure 2", "recovery 2", ""}},
		{"no recovery from what was not reported", []schedule.AlertEvent{failures, recovery}, time.Second, []string{"f", "s", "fff", "s"}, []string{"", "", "failures 3", "recovery 3"}},
		{"quiet while it comes and goes", []schedule.AlertEvent{failure, recovery}, 25 * time.Second, []string{"fs", "fs", "fs", "fs"}, []string{"failure 1, recovery 1", "", "", "failure 1, recovery 1"}},
		{"recovery alone", []schedule.AlertEvent{recovery}, 15 * time.Second, []string{"f", "s", "fs", "s", "fs"}, []string{"", "recovery 1", "", "", "recovery 1"}},
		{"cancelled runs say nothing", []schedule.AlertEvent{failure, failures, recovery}, time.Second, []string{"c", "f", "c", "f", "cf"}, []string{"", "failure 1", "", "failure 2", "failure 3, failures 3"}},
		{"not asked for", []schedule.AlertEvent{schedule.AlertMissed}, time.Second, []string{"fff", "s"}, []string{"", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, standing := watched(c.quiet, c.on...), schedule.Standing{}
			for i, look := range c.looks {
				view := schedule.View{Now: noon.Add(time.Duration(i) * 10 * time.Second), Ended: ends(look), Standing: standing}
				plan, err := decided(s, view)
				if err != nil {
					t.Fatal(err)
				}
				if got := saidBy(t, plan); got != c.want[i] {
					t.Errorf("look %d, after %q: told %q, want %q", i, look, got, c.want[i])
				}
				if got := saidBy(t, manual(s, view)); got != c.want[i] {
					t.Errorf("look %d, of a run by hand: told %q, want %q", i, got, c.want[i])
				}
				s.Disabled = i%2 != 0 // ends are reported either way
				standing = plan.Standing
			}
		})
	}
}

func TestNobodyIsToldWithoutAnAlert(t *testing.T) {
	s := minutely(func(*schedule.Schedule) {})
	plan, err := decided(s, schedule.View{Now: noon, Ended: ends("fff"), Standing: schedule.Standing{Failures: 2}})
	if err != nil || len(plan.Alerts) > 0 || plan.Standing != (schedule.Standing{}) {
		t.Errorf("planned %+v: %v", plan, err)
	}
}

func TestMissedInstantsAreToldOf(t *testing.T) {
	late := func(catchUp schedule.CatchUp, on ...schedule.AlertEvent) schedule.Schedule {
		s := watched(time.Hour, on...)
		s.Cursor, s.CatchUp = schedule.Cursor{Due: noon, FireAt: noon}, catchUp
		return s
	}
	for _, c := range []struct {
		catchUp schedule.CatchUp
		on      schedule.AlertEvent
		after   time.Duration
		want    string
	}{
		{schedule.CatchUpNone, schedule.AlertMissed, 10*time.Minute + 30*time.Second, "missed 11 run 0"},
		{schedule.CatchUpCompact, schedule.AlertMissed, 10*time.Minute + 30*time.Second, "missed 11 run 1"},
		{schedule.CatchUpFull, schedule.AlertMissed, 10*time.Minute + 30*time.Second, "missed 11 run 11"},
		{schedule.CatchUpNone, schedule.AlertMissed, 21 * time.Second, "missed 1 run 0"},
		{schedule.CatchUpNone, schedule.AlertMissed, 20 * time.Second, ""}, // late, but not too late
		{schedule.CatchUpNone, schedule.AlertMissed, -time.Minute, ""},     // nothing has come
		{schedule.CatchUpNone, schedule.AlertMissed, 100 * time.Hour, "missed 1000 run 0"},
		{schedule.CatchUpNone, schedule.AlertFailure, time.Hour, ""},
	} {
		s := late(c.catchUp, c.on)
		plan, err := decided(s, schedule.View{Now: noon.Add(c.after)})
		if err != nil {
			t.Fatal(err)
		}
		if got := saidBy(t, plan); got != c.want {
			t.Errorf("%s, %v late: told %q, want %q", c.catchUp, c.after, got, c.want)
		}
		again, err := decided(s, schedule.View{Now: noon.Add(c.after + time.Minute), Standing: plan.Standing})
		if err != nil || len(plan.Alerts) > 0 && len(again.Alerts) > 0 {
			t.Errorf("it is told of twice within the hour: %v", err)
		}
	}
}

func TestAnAlertIsACallForTheTenant(t *testing.T) {
	s := watched(time.Second, schedule.AlertFailure)
	s.Job.Tenant, s.Job.Queue, s.Name = "acme", "slow", `{{args.url}}"`
	s.Alert.Headers, s.Alert.SigningSecret = map[string]string{"X-A": "1"}, "${env:S}"
	plan, err := decided(s, schedule.View{Now: noon, Ended: ends("f")})
	if err != nil || len(plan.Alerts) != 1 {
		t.Fatalf("planned %+v: %v", plan, err)
	}
	job := plan.Alerts[0]
	if job.Kind != "http" || job.Tenant != "acme" || job.Queue != "slow" {
		t.Errorf("the job is %+v", job)
	}
	var args map[string]any
	if err := json.Unmarshal(job.Args, &args); err != nil {
		t.Fatal(err)
	}
	if args["url"] != s.Alert.URL || args["signing_secret"] != "${env:S}" || args["headers"].(map[string]any)["X-A"] != "1" {
		t.Errorf("the args are %v", args)
	}
	if strings.Contains(args["body"].(string), "args.url") {
		t.Errorf("what is told of is taken for a template: %v", args["body"])
	}
}

func TestAlertsThatCannotBeAreRefused(t *testing.T) {
	for field, change := range map[string]func(*schedule.Alert){
		"alert.url":      func(a *schedule.Alert) { a.URL = "" },
		"alert.on":       func(a *schedule.Alert) { a.On = []schedule.AlertEvent{"success"} },
		"alert.failures": func(a *schedule.Alert) { a.Failures = 1 },
		"alert.quiet":    func(a *schedule.Alert) { a.Quiet = -time.Second },
		"alert.body":     func(a *schedule.Alert) { a.Body = json.RawMessage(`{`) },
		"alert.headers":  func(a *schedule.Alert) { a.Headers = map[string]string{"A": strings.Repeat("a", 3000)} },
	} {
		alert := schedule.Alert{URL: "https://example.org"}
		change(&alert)
		s := schedule.Schedule{Name: "s", Cron: "@daily", Job: fairlead.Job{Kind: "noop"}, Alert: &alert}
		if err := schedule.Normalize(&s); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	s := schedule.Schedule{Name: "s", Cron: "@daily", Job: fairlead.Job{Kind: "noop"}, Alert: &schedule.Alert{URL: "https://example.org"}}
	if err := schedule.Normalize(&s); err != nil {
		t.Fatal(err)
	}
	if s.Alert.Failures != 3 || s.Alert.Quiet != time.Minute || len(s.Alert.On) != 2 {
		t.Errorf("the defaults are %+v", s.Alert)
	}
}
