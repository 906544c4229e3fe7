package server_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// newCallingAPI serves a store whose server makes calls to this machine, and checks them. It leaves
// targets alone that have failed so often; 0 stands for never.
func newCallingAPI(t *testing.T, failures int) *api {
	t.Helper()
	store := sqlitetest.Open(t)
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	calls := httpcall.New(httpcall.Options{Guard: guard, MaxFailures: failures})
	handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), TryCall: calls.Try, Args: server.ArgsChecks{httpcall.Kind: calls.Validate}})
	if err != nil {
		t.Fatal(err)
	}
	return &api{TB: t, url: served(t, handler, store), store: store}
}

func TestACallOfAScheduleIsTestedWithoutAJob(t *testing.T) {
	a := newCallingAPI(t, 0)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(append([]byte("you said "), body...))
	}))
	defer target.Close()
	if err := fairlead.NewClient(a.store).SetConfidential(t.Context(), "http", []string{"args.body.card"}); err != nil {
		t.Fatal(err)
	}
	a.send(200, "POST", schedules, fmt.Sprintf(`{"name":"call","every":"1h","job":{"kind":"http","args":{"url":"%s/x","body":{"card":"4711"}}}}`, target.URL))
	answer, _ := a.send(200, "POST", schedules+"/call/test", `{}`)
	call := answer["call"].(map[string]any)
	wantFields(t, call, map[string]any{"status": 418.0, "error_class": "status"})
	if answer["success"] != nil || strings.Contains(fmt.Sprint(answer), "4711") || !strings.Contains(fmt.Sprint(call["response"]), `you said {"card":"***"}`) {
		t.Errorf("it is answered with %v", answer)
	}
	answer, _ = a.send(200, "POST", schedules+"/call/test", fmt.Sprintf(`{"args":{"url":"%s/x","success":{"status":["418"]}}}`, target.URL))
	if answer["success"] != true {
		t.Errorf("a call that counts as a success is answered with %v", answer)
	}
	problem, _ := a.send(400, "POST", schedules+"/call/test", `{"args":{"url":"http://x/","body":{"card":"***"}}}`)
	if refusals(problem)["args"] == "" {
		t.Errorf("a masked value is answered with %v", problem)
	}
	if jobs, _ := a.send(200, "GET", "/api/v1/jobs", ""); len(items(t, jobs)) != 0 {
		t.Errorf("there are the jobs %v", jobs)
	}
	audit, _ := a.send(200, "GET", "/api/v1/audit", "")
	if text := fmt.Sprint(audit); !strings.Contains(text, "TestSchedule") || strings.Contains(text, "4711") || strings.Contains(text, "you said") {
		t.Errorf("the audit log has %s", text)
	}
}

func TestACallIsTestedBeforeItsScheduleIsSaved(t *testing.T) {
	a := newCallingAPI(t, 0)
	var last string
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last = r.Method + " " + string(body)
	}))
	defer target.Close()
	if err := fairlead.NewClient(a.store).SetConfidential(t.Context(), "http", []string{"args.body.card"}); err != nil {
		t.Fatal(err)
	}
	draft := fmt.Sprintf(`{"job":{"kind":"http","tenant":"acme","args":{"url":"%s/x","method":"PUT","body":{"card":"4711"}}}}`, target.URL)
	answer, _ := a.send(200, "POST", schedules+"/test", draft)
	if wantFields(t, answer["call"].(map[string]any), map[string]any{"status": 200.0}); answer["success"] != true || last != `PUT {"card":"4711"}` || strings.Contains(fmt.Sprint(answer), "4711") {
		t.Errorf("the target got %s, and the answer is %v", last, answer)
	}
	a.send(200, "POST", schedules, `{"name":"call","every":"1h",`+draft[1:])
	changed := fmt.Sprintf(`{"ref":"call","job":{"kind":"http","tenant":"acme","args":{"url":"%s/x","method":"PATCH","body":{"card":"***"}}}}`, target.URL)
	if a.send(200, "POST", schedules+"/test", changed); last != `PATCH {"card":"4711"}` {
		t.Errorf("a masked value that is stored arrived as %s", last)
	}
	for refused, field := range map[string]string{
		`{"job":{"kind":"noop"}}`:                                                               "job.kind",
		`{"job":{"kind":"http","args":{"url":"ftp://x/"}}}`:                                     "job.args.url",
		strings.ReplaceAll(draft, "4711", "***"):                                                "job.args",
		`{"job":{"kind":"http","tenant":"fairlead-bulks","args":{"url":"` + target.URL + `"}}}`: "job.tenant",
	} {
		problem, _ := a.send(400, "POST", schedules+"/test", refused)
		if refusals(problem)[field] == "" {
			t.Errorf("%s is answered with %v", refused, problem)
		}
	}
	stored, _ := a.send(200, "GET", schedules+"/call", "")
	if method := stored["job"].(map[string]any)["args"].(map[string]any)["method"]; method != "PUT" {
		t.Errorf("the schedule was changed: %v", stored)
	}
	if jobs, _ := a.send(200, "GET", "/api/v1/jobs", ""); len(items(t, jobs)) != 0 {
		t.Errorf("there are the jobs %v", jobs)
	}
	audit, _ := a.send(200, "GET", "/api/v1/audit", "")
	if text := fmt.Sprint(audit); strings.Count(text, "TestScheduleDraft") != 2 || strings.Contains(text, "4711") {
		t.Errorf("the audit log has %s", text)
	}
	for _, entry := range items(t, audit) {
		if entry["action"] == "TestScheduleDraft" && entry["tenant"] != "acme" {
			t.Errorf("the audit entry is of tenant %v", entry["tenant"])
		}
	}
}

func TestOnlyCallsAreTested(t *testing.T) {
	a := newCallingAPI(t, 0)
	a.send(200, "POST", schedules, `{"name":"plain","every":"1h","job":{"kind":"noop"}}`)
	problem, _ := a.send(400, "POST", schedules+"/plain/test", `{}`)
	if !strings.Contains(refusals(problem)["id"], "trigger a run instead") {
		t.Errorf("it is answered with %v", problem)
	}
	a.send(404, "POST", schedules+"/none/test", `{}`)
}

func TestABackfillIsCountedBeforeItIsMade(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		a.addScheduleOf("hourly", "0 * * * *")
		path := schedules + "/hourly/backfill"
		span := "?from=2026-01-01T00:30:00Z&to=2026-01-01T04:00:00Z"
		counted, _ := a.send(200, "GET", path+"/preview"+span, "", a.viewer("")...)
		wantFields(t, counted, map[string]any{"runs": 3.0, "first": "2026-01-01T01:00:00.000000Z", "last": "2026-01-01T03:00:00.000000Z"})
		if runs, _ := a.send(200, "GET", schedules+"/hourly/runs", "", a.viewer("")...); len(items(t, runs)) != 0 {
			t.Errorf("asking has made %v", runs)
		}
		problem, _ := a.send(400, "GET", path+"/preview?from=2026-01-01T00:30:00Z&to=2026-01-01T00:40:00Z", "", a.viewer("")...)
		if refusals(problem)["from"] == "" {
			t.Errorf("no instant is answered with %v", problem)
		}
	})
}
