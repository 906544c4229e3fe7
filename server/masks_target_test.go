package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/schedule"
)

// wantElsewhere expects that a request is rejected because it would send confidential
// values to another target.
func (a *guardedAPI) wantElsewhere(verb, path, body, field string, as []string) {
	a.Helper()
	problem, _ := a.send(400, verb, path, body, as...)
	if text := refusals(problem)[field]; !strings.Contains(text, "points to a host other than the one") || !strings.Contains(text, "give these values too") {
		a.Errorf("%s %s %s is answered with %v", verb, path, body, problem)
	}
}

func TestWhatIsConfidentialOfAScheduleGoesBackToItsHostOnly(t *testing.T) {
	w := newConfidedAPI(t)
	operator := w.as(w.token(access.RoleOperator, ""))
	w.send(200, "POST", schedules, `{"name":"call","every":"1h","alert":{"url":"https://alarm.example.org/a","headers":{"secret":"`+canary+`"}},
		"job":{"kind":"http","args":{"url":"https://api.example.org/a","headers":{"secret":"`+canary+`"}}}}`, w.admin...)
	edit := func(target, alarm, secret string) string {
		return fmt.Sprintf(`{"every":"1h","alert":{"url":%q,"headers":{"secret":"***"}},"job":{"kind":"http","args":{"url":%q,"headers":{"secret":%q}}}}`, alarm, target, secret)
	}
	const path, home, alarm = schedules + "/call", "https://api.example.org/b?x={{run_id}}", "https://alarm.example.org/b"
	for _, target := range []string{"https://evil.example.org/a", "http://api.example.org/a", "https://api.example.org:8443/a", "https://api.example.org@evil.example.org/"} {
		w.wantElsewhere("PUT", path, edit(target, alarm, "***"), "job.args.url", operator)
		w.wantElsewhere("PUT", path, edit(home, target, "***"), "alert.url", operator)
		w.wantElsewhere("POST", "/api/v1/what-if", `{"changes":[{"schedule":{"ref":"call",`+edit(target, alarm, "***")[1:]+`}]}`, "job.args.url", operator)
	}
	problem, _ := w.send(400, "PUT", path, strings.Replace(edit(home, alarm, "***"), `"kind"`, `"tenant":"acme","kind"`, 1), operator...)
	if text := refusals(problem)["job.args"]; !strings.Contains(text, "enter the value") {
		t.Errorf("another tenant is answered with %v", problem)
	}
	for _, sent := range []struct{ target, secret, want string }{{home, "***", canary}, {"https://API.example.org:443/", "***", canary}, {"https://other.example.org/", "own", "own"}} {
		w.send(200, "PUT", path, edit(sent.target, alarm, sent.secret), operator...)
		stored, err := w.schedules.List(t.Context(), schedule.Filter{})
		if err != nil || len(stored) != 1 {
			t.Fatalf("schedules are %v: %v", stored, err)
		}
		if args := string(stored[0].Job.Args); !strings.Contains(args, sent.want) || !strings.Contains(args, sent.target) || stored[0].Alert.Headers["secret"] != canary {
			t.Errorf("stored are %s and %v", args, stored[0].Alert)
		}
	}
}

func TestWhatIsConfidentialOfATaskStaysWithItsTarget(t *testing.T) {
	w := newConfidedAPI(t)
	operator := w.as(w.token(access.RoleOperator, ""))
	const path = "/api/v1/tasks/call"
	w.send(201, "POST", "/api/v1/tasks", `{"name":"call","cron_expr":"@daily","target_url":"https://api.example.org/a","headers_json":{"secret":"`+canary+`"}}`, w.admin...)
	const evil = `"target_url":"https://evil.example.org/"`
	w.wantElsewhere("PATCH", path, `{`+evil+`}`, "target_url", operator)
	w.wantElsewhere("PATCH", path, `{`+evil+`,"headers_json":{"secret":"***"}}`, "target_url", operator)
	w.wantElsewhere("PUT", path, `{"name":"call","cron_expr":"@daily",`+evil+`,"headers_json":{"secret":"***"}}`, "target_url", operator)
	w.send(200, "PATCH", path, `{"target_url":"https://api.example.org/b"}`, operator...)
	w.send(200, "PATCH", path, `{`+evil+`,"headers_json":{"secret":"own"}}`, operator...)

	// What tasks do not show stays as well, and so it counts as well.
	found, err := w.schedules.Get(t.Context(), "call")
	if err != nil {
		t.Fatal(err)
	}
	found.Job.Args = []byte(`{"url":"https://api.example.org/","vars":{"key":"` + canary + `"}}`)
	if _, err := w.schedules.Put(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	w.wantElsewhere("PUT", path, `{"name":"call","cron_expr":"@daily",`+evil+`,"body_template":"{{args.key}}"}`, "target_url", operator)
}

func TestACallWhoseAddressIsConfidentialCanBeEdited(t *testing.T) {
	a := newCallingAPI(t, 0)
	if err := a.store.AddConfidential(t.Context(), fairlead.Confidential{"http": {"args.url", "args.headers.secret"}}); err != nil {
		t.Fatal(err)
	}
	a.send(200, "POST", schedules, `{"name":"call","cron":"@daily","job":{"kind":"http","args":{"url":"https://api.example.org/`+canary+`","headers":{"secret":"`+canary+`"}}}}`)
	const edited = `"job":{"kind":"http","args":{"url":"***","method":"PUT","headers":{"secret":"***"}}}`
	a.send(200, "PUT", schedules+"/call", `{"cron":"@daily",`+edited+`}`)
	a.send(200, "POST", "/api/v1/what-if", `{"changes":[{"schedule_patch":{"ref":"call",`+edited+`}}]}`)
	a.send(200, "PATCH", "/api/v1/tasks/call", `{"target_url":"***"}`)
	found, err := schedule.NewClient(a.store).Get(t.Context(), "call")
	if err != nil || !strings.Contains(string(found.Job.Args), "https://api.example.org/"+canary) {
		t.Errorf("stored is %s: %v", found.Job.Args, err)
	}
}

func TestWhatIsConfidentialOfASweepIsNotShownByChangingIt(t *testing.T) {
	w := newConfidedAPI(t)
	operator := w.as(w.token(access.RoleOperator, ""))
	const path = "/api/v1/sweeps/call"
	made, _ := w.send(200, "POST", "/api/v1/sweeps", `{"name":"call","kind":"count","to":9,"args":{"secret":"`+canary+`"},"gate":{"before_run":"https://gate.example.org/a"}}`, w.admin...)
	for body, field := range map[string]string{
		`{"kind":"other"}`: "kind",
		`{"gate":{"before_run":"https://evil.example.org/"}}`: "gate.before_run",
	} {
		problem, _ := w.send(400, "PATCH", path, body, operator...)
		if text := refusals(problem)[field]; !strings.Contains(text, "create a new sweep") {
			t.Errorf("%s is answered with %v", body, problem)
		}
	}
	w.send(200, "PATCH", path, `{"gate":{"before_run":"https://gate.example.org/b"}}`, operator...)
	w.send(200, "POST", path+"/start", `{}`, operator...)
	jobs, _ := w.send(200, "GET", "/api/v1/jobs?kind=sweep.gate", "", operator...)
	if text := fmt.Sprint(jobs); len(items(t, jobs)) != 1 || strings.Contains(text, canary) || !strings.Contains(text, "secret:***") {
		t.Errorf("of the sweep %v the gate is asked by %v", made["id"], jobs)
	}
}
