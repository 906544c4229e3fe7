package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestWhatIfComparesStartsAndSavesNothing(t *testing.T) {
	a := newAPI(t)
	if _, err := a.store.Join(t.Context(), fairlead.Node{Name: "elsewhere", Kinds: []string{"strange"}, Slots: 1}, time.Hour); err != nil {
		t.Fatal(err)
	}
	a.send(200, "POST", "/api/v1/tenants", `{"name":"acme","max_running":5}`)
	a.enqueue(`{"kind":"strange","tenant":"acme"}`)
	answer, _ := a.send(200, "POST", "/api/v1/what-if", `{"slots":3,"changes":[{"tenant":{"name":"acme","paused":true}}]}`)
	wantFields(t, answer, map[string]any{"slots": 3.0})
	if len(answer["text"].([]any)) == 0 {
		t.Errorf("no sentence in %v", answer)
	}
	waits, _ := answer["waits"].([]any)
	if len(waits) != 1 {
		t.Fatalf("the waits are %v", answer["waits"])
	}
	wait := waits[0].(map[string]any)
	wantFields(t, wait, map[string]any{"tenant": "acme", "effect": "later"})
	if held := fmt.Sprint(wait["held_after"]); !strings.Contains(held, "paused") {
		t.Errorf("it is held by %v", held)
	}
	slow, _ := a.send(200, "POST", "/api/v1/what-if", `{"changes":[{"limit":{"scope":"kind:strange","rate":0.0001}}]}`)
	steady, _ := slow["steady"].([]any)
	if len(steady) != 1 {
		t.Fatalf("the steady states are %v", slow["steady"])
	}
	state := steady[0].(map[string]any)
	wantFields(t, state, map[string]any{"scope": "kind:strange", "window": "3600s", "sample": nil, "before": nil})
	if use, _ := state["after"].(float64); use <= 1 {
		t.Errorf("one job in an hour is %v of a rate of one in three hours", state["after"])
	}
	tenant, _ := a.send(200, "GET", "/api/v1/tenants/acme", "")
	wantFields(t, tenant, map[string]any{"max_running": 5.0})
	audit, _ := a.send(200, "GET", "/api/v1/audit", "")
	if text := fmt.Sprint(audit); strings.Contains(text, "WhatIf") {
		t.Errorf("the audit log has the question: %v", text)
	}
}

func TestWhatIfComparesInstants(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", "/api/v1/calendars", `{"name":"closed"}`)
	a.send(200, "POST", "/api/v1/schedules", `{"name":"nightly","daily":"03:00","calendar":"closed","job":{"kind":"noop"}}`)
	for change, want := range map[string]string{
		`{"schedule":{"ref":"nightly","daily":"04:00","calendar":"closed","job":{"kind":"noop"}}}`:               "appears",
		`{"schedule":{"name":"hourly","cron":"@hourly","job":{"kind":"noop"}}}`:                                  "appears",
		`{"schedule":{"ref":"nightly","daily":"03:00","enabled":false,"job":{"kind":"noop"}}}`:                   "disappears",
		`{"calendar":{"name":"closed","weekdays":["monday"]}}`:                                                   "disappears",
		`{"schedule":{"ref":"nightly","daily":"03:00","calendar":"closed","jitter":"5m","job":{"kind":"noop"}}}`: "moves",
		`{"schedule_patch":{"ref":"nightly","daily":"05:00"}}`:                                                   "appears",
	} {
		answer, _ := a.send(200, "POST", "/api/v1/what-if", `{"instants":8,"changes":[`+change+`]}`)
		if text := fmt.Sprint(answer["schedules"]); !strings.Contains(text, want) || answer["slots"] != nil {
			t.Errorf("%s: no instant %s in %v", change, want, answer)
		}
	}
	schedules, _ := a.send(200, "GET", "/api/v1/schedules", "")
	if items := schedules["items"].([]any); len(items) != 1 {
		t.Errorf("the schedules are %v", items)
	}
}

func TestWhatIfRefusesWhatSavingRefuses(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", "/api/v1/tenants", `{"name":"acme"}`)
	a.send(200, "POST", "/api/v1/schedules", `{"name":"nightly","daily":"03:00","job":{"kind":"noop"}}`)
	for _, ask := range []struct {
		status             int
		verb, path, change string
	}{
		{400, "PUT", "/api/v1/limits/queue:mail", `"limit":{"scope":"queue:mail","order":"random"}`},
		{400, "PUT", "/api/v1/tenants/acme", `"tenant":{"name":"acme","max_running":1,"min_running":2}`},
		{409, "PUT", "/api/v1/tenants/acme", `"tenant":{"name":"acme","version":"99"}`},
		{400, "PUT", "/api/v1/schedules/nightly", `"schedule":{"ref":"nightly","cron":"never","job":{"kind":"noop"}}`},
		{400, "PUT", "/api/v1/schedules/nightly", `"schedule":{"ref":"nightly","daily":"03:00","calendar":"none","job":{"kind":"noop"}}`},
		{409, "POST", "/api/v1/schedules", `"schedule":{"name":"nightly","daily":"03:00","job":{"kind":"noop"}}`},
		{404, "PUT", "/api/v1/schedules/weekly", `"schedule":{"ref":"weekly","daily":"03:00","job":{"kind":"noop"}}`},
		{400, "POST", "/api/v1/calendars", `"calendar":{"name":"closed","dates":["noon"]}`},
	} {
		_, body, _ := strings.Cut(ask.change, ":")
		body = strings.NewReplacer(`"scope":"queue:mail",`, "", `"ref":"nightly",`, "", `"ref":"weekly",`, "").Replace(body)
		saving, _ := a.send(ask.status, ask.verb, ask.path, body)
		asking, _ := a.send(ask.status, "POST", "/api/v1/what-if", `{"changes":[{`+ask.change+`}]}`)
		if fmt.Sprint(asking["errors"]) != fmt.Sprint(saving["errors"]) {
			t.Errorf("%s: asking says %v, saving %v", ask.change, asking, saving)
		}
	}
	for change, field := range map[string]string{
		`{"limit":{"scope":"global"}},{"tenant":{"name":"acme","max_running":1,"min_running":2}}`:                                                     "changes[1].min_running",
		`{"calendar":{"name":"c"}},{"tenant":{"name":"acme"}},{"tenant":{"name":"beta","parent":"gone"}}`:                                             "changes[2].parent",
		`{"calendar":{"name":"c"}},{"tenant":{"name":"acme","parent":"gone"}}`:                                                                        "changes[1].parent",
		`{"tenant":{"name":"acme"}},{"schedule":{"ref":"nightly","daily":"03:00","calendar":"none","job":{"kind":"noop"}}},{"calendar":{"name":"c"}}`: "changes[1].calendar",
		`{}`: "change",
		`{"limit":{"scope":"global"},"tenant":{"name":"acme"}}`: "change",
	} {
		answer, _ := a.send(400, "POST", "/api/v1/what-if", `{"changes":[`+change+`]}`)
		if text := fmt.Sprint(answer["errors"]); !strings.Contains(text, "field:"+field+" ") && !strings.Contains(text, field) {
			t.Errorf("%s: no field %q in %v", change, field, answer)
		}
	}
}
