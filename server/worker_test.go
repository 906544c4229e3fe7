package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// remote is a worker that speaks plain JSON.
type remote struct {
	*api
	path, session string
}

func (a *api) join(body string) *remote {
	a.Helper()
	answer, _ := a.send(200, "POST", "/api/v1/workers", body)
	return &remote{api: a, path: "/api/v1/workers/" + answer["id"].(string), session: answer["session"].(string)}
}

// call makes a call of the worker and expects a status. The body's fields follow
// the session.
func (r *remote) call(want int, what, fields string) map[string]any {
	r.Helper()
	verb, path := "POST", r.path+"/"+what
	if what == "" {
		verb, path = "DELETE", r.path
	}
	if fields != "" {
		fields = "," + fields
	}
	answer, _ := r.send(want, verb, path, fmt.Sprintf(`{"session":%q%s}`, r.session, fields))
	return answer
}

// lease leases jobs without waiting.
func (r *remote) lease(fields string) []map[string]any {
	r.Helper()
	return listOf(r.call(200, "lease", fields), "jobs")
}

func listOf(answer map[string]any, field string) (list []map[string]any) {
	items, _ := answer[field].([]any)
	for _, item := range items {
		list = append(list, item.(map[string]any))
	}
	return list
}

// settle ends the run of a job and returns the outcome.
func (r *remote) settle(job map[string]any, fields string) map[string]any {
	r.Helper()
	answer := r.call(200, "settle", fmt.Sprintf(`"settlements":[{"id":%q,"fence":%q,%s}]`, job["id"], job["fence"], fields))
	return listOf(answer, "results")[0]
}

// eventually waits until something holds.
func (a *api) eventually(what string, holds func() bool) {
	a.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience.Limit); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			a.Fatalf("it did not happen that %s", what)
		}
	}
}

func TestAWorkerLeasesReportsAndSettles(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"name":"w","kinds":["mail"],"slots":2,"version":"1"}`)
	for i := range 3 {
		a.enqueue(fmt.Sprintf(`{"kind":"mail","args":{"n":%d},"timeout":"20s"}`, i))
	}
	a.enqueue(`{"kind":"other"}`)
	jobs := w.lease(`"max":5`)
	if len(jobs) != 2 || jobs[0]["kind"] != "mail" || jobs[0]["timeout"] != "20s" || jobs[0]["attempt"] != 1.0 {
		t.Fatalf("leased %v", jobs)
	}
	if more := w.lease(""); len(more) != 0 {
		t.Fatalf("more was leased than there are slots: %v", more)
	}
	if held := listOf(w.call(200, "leases", ""), "items"); len(held) != 2 || held[0]["fence"] != jobs[0]["fence"] {
		t.Errorf("the leases are %v", held)
	}
	w.call(200, "progress", fmt.Sprintf(`"job":%q,"fence":%q,"progress":{"done":5},"memo":[1]`, jobs[0]["id"], jobs[0]["fence"]))
	if ended := w.settle(jobs[0], `"outcome":"succeed","output":{"sent":true}`); ended["result"] != "as_asked" || ended["state"] != "succeeded" {
		t.Errorf("it ended as %v", ended)
	}
	done := a.wantState("/api/v1/jobs/"+jobs[0]["id"].(string), "succeeded")
	if fmt.Sprint(done["output"], done["progress"]) != "map[sent:true] map[done:5]" {
		t.Errorf("it is %v", done)
	}
	if again := w.settle(jobs[0], `"outcome":"succeed","output":{"sent":true}`); again["result"] != "as_asked" {
		t.Errorf("the same again is %v", again)
	}
	if third := w.lease(""); len(third) != 1 {
		t.Errorf("the free slot got %v", third)
	}
	nodes, _ := a.send(200, "GET", "/api/v1/nodes", "")
	if node := listOf(nodes, "items")[0]; node["remote"] != true || node["name"] != "w" || node["slots"] != 2.0 {
		t.Errorf("the node is %v", node)
	}
	w.call(200, "", "")
	w.call(200, "", "")
	w.call(409, "beat", "")
	w.call(409, "lease", "")
}

func TestWhatBecomesOfAJobIsDecidedAsOnANode(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":1,"defaults":[{"kind":"k","max_attempts":2,"retry":{"base":"3h","precise":true}}]}`)
	for _, c := range []struct{ job, end, result, state, field, want string }{
		{``, `"outcome":"fail","error":"boom"`, "as_asked", "scheduled", "failures", "1"},
		{`"max_attempts":1,`, `"outcome":"fail","error":"boom"`, "as_asked", "failed", "error", "boom"},
		{`"max_attempts":1,`, `"outcome":"fail","error":"slow","reason":"timeout"`, "as_asked", "failed", "reason", "timeout"},
		{`"max_attempts":1,`, `"outcome":"fail","reason":"panic","after":"1s"`, "as_asked", "failed", "reason", "panic"},
		{``, `"outcome":"fatal","error":"never"`, "as_asked", "failed", "reason", "fatal"},
		{``, `"outcome":"snooze","after":"1h","memo":{"page":2}`, "as_asked", "scheduled", "memo", "map[page:2]"},
		{``, `"outcome":"snooze","at":"2100-01-01T00:00:00Z"`, "as_asked", "scheduled", "not_before", "2100-01-01T00:00:00.000000Z"},
		{``, `"outcome":"fail","at":"2100-01-01T00:00:00Z"`, "as_asked", "scheduled", "not_before", "2100-01-01T00:00:00.000000Z"},
		{``, `"outcome":"await","after":"1h"`, "as_asked", "waiting", "state", "waiting"},
		{``, `"outcome":"succeed","replace":{"kind":"other","tenant":"acme"}`, "as_asked", "succeeded", "state", "succeeded"},
	} {
		path := a.enqueue(`{` + c.job + `"kind":"k"}`)
		job := w.lease("")[0]
		if ended := w.settle(job, c.end); ended["result"] != c.result || ended["state"] != c.state {
			t.Errorf("%s: it ended as %v", c.end, ended)
		}
		if stored := a.wantState(path, c.state); fmt.Sprint(stored[c.field]) != c.want {
			t.Errorf("%s: %s is %v, want %s", c.end, c.field, stored[c.field], c.want)
		}
	}
	replaced, _ := a.send(200, "GET", "/api/v1/jobs?kind=other", "")
	if jobs := listOf(replaced, "items"); len(jobs) != 1 || jobs[0]["tenant"] != "acme" {
		t.Errorf("the replacement is %v", jobs)
	}
	path := a.enqueue(`{"kind":"k"}`)
	w.settle(w.lease("")[0], `"outcome":"release"`)
	if job := a.wantState(path, "ready"); job["attempt"] != nil {
		t.Errorf("a job that was released has used up an attempt: %v", job)
	}
}

func TestAWorkerIsToldWhatToStop(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":3}`)
	wished, slow, good := a.enqueue(`{"kind":"k"}`), a.enqueue(`{"kind":"k","timeout":"1ms","max_attempts":1}`), a.enqueue(`{"kind":"k"}`)
	jobs := w.lease("")
	a.send(200, "POST", wished+"/cancel", `{"reason":"enough"}`)
	a.send(200, "POST", good+"/cancel", `{}`)
	var stops map[string]any
	a.eventually("three jobs are to stop", func() bool {
		stops = map[string]any{}
		for _, stop := range listOf(w.call(200, "beat", ""), "cancel") {
			stops["/api/v1/jobs/"+stop["id"].(string)] = stop["reason"]
		}
		return len(stops) == 3
	})
	if stops[wished] != "cancelled" || stops[slow] != "timeout" {
		t.Errorf("it is to stop %v", stops)
	}
	if ended := w.settle(jobs[0], `"outcome":"fail","error":"stopped"`); ended["result"] != "cancelled" || ended["state"] != "cancelled" {
		t.Errorf("it ended as %v", ended)
	}
	a.wantState(wished, "cancelled")
	if ended := w.settle(jobs[2], `"outcome":"succeed"`); ended["state"] != "succeeded" {
		t.Errorf("a success does not count after a wish: %v", ended)
	}
}

func TestAJobThatWillNotStopIsSettledWithoutItsWorker(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":2}`)
	slow, wished := a.enqueue(`{"kind":"k","timeout":"1ms","max_attempts":1}`), a.enqueue(`{"kind":"k"}`)
	jobs := w.lease("")
	a.send(200, "POST", wished+"/cancel", "{}")
	a.eventually("the worker runs nothing any more", func() bool {
		w.call(200, "beat", "")
		return len(listOf(w.call(200, "leases", ""), "items")) == 0
	})
	if job := a.wantState(slow, "failed"); job["reason"] != "timeout" {
		t.Errorf("it failed as %v", job)
	}
	a.wantState(wished, "cancelled")
	if late := w.settle(jobs[0], `"outcome":"succeed"`); late["result"] != "lost" {
		t.Errorf("a late result is %v", late)
	}
	a.wantState(slow, "failed")
}

func TestWhatWasTakenFromAWorkerAndEndedIsLostToIt(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":1}`)
	a.enqueue(`{"kind":"k"}`)
	job := w.lease("")[0]
	nodes, err := a.store.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(w.session, ".")
	if err := a.store.Leave(driver.AsNode(t.Context(), token), nodes[0].ID); err != nil { // as if its lease had run out
		t.Fatal(err)
	}
	if reaped, err := a.store.Reap(t.Context(), driver.Reap{MaxCrashes: 0, Limit: 1}); err != nil || reaped.Poisoned != 1 {
		t.Fatalf("reaped %+v, %v", reaped, err)
	}
	for _, outcome := range []string{`"outcome":"succeed"`, `"outcome":"fatal","error":"never"`} {
		if ended := w.settle(job, outcome); ended["result"] != "lost" {
			t.Errorf("%s is answered with %v", outcome, ended)
		}
	}
}

func TestAWorkerThatLeavesDidNotCrash(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":1}`)
	path := a.enqueue(`{"kind":"k"}`)
	w.lease("")
	w.call(200, "", "")
	if reaped, err := a.store.Reap(t.Context(), driver.Reap{MaxCrashes: 0, Limit: 1}); err != nil || reaped.Jobs != 1 {
		t.Fatalf("reaped %+v, %v", reaped, err)
	}
	if job := a.wantState(path, "ready"); job["crashes"] != nil && job["crashes"] != 0.0 {
		t.Errorf("it has %v crashes", job["crashes"])
	}
}

func TestNobodyActsForAnotherWorker(t *testing.T) {
	a := newAPI(t)
	w, other := a.join(`{"kinds":["k"],"slots":1}`), a.join(`{"kinds":["k"],"slots":1}`)
	path := a.enqueue(`{"kind":"k"}`)
	job := w.lease("")[0]
	thief := &remote{api: a, path: w.path, session: other.session}
	for what, fields := range map[string]string{
		"beat": "", "lease": "", "leases": "", "": "", "jobs": "", "watch": "",
		"progress": `"job":1,"fence":1`, "settle": `"settlements":[{"id":1,"fence":1,"outcome":"succeed"}]`,
	} {
		answer := thief.call(http.StatusForbidden, what, fields)
		if strings.Contains(fmt.Sprint(answer), other.session) {
			t.Errorf("%s: the session is in the answer %v", what, answer)
		}
	}
	if stolen := other.settle(job, `"outcome":"succeed"`); stolen["result"] != "lost" {
		t.Errorf("another worker settled it: %v", stolen)
	}
	other.call(409, "progress", fmt.Sprintf(`"job":%q,"fence":%q,"progress":1`, job["id"], job["fence"]))
	a.wantState(path, "running")
}

func TestWhatAWorkerSaysWrongIsNamed(t *testing.T) {
	a := newAPI(t)
	for body, field := range map[string]string{
		`{}`:                            "kinds",
		`{"kinds":[""]}`:                "kinds[0]",
		`{"kinds":["k"],"slots":-1}`:    "slots",
		`{"kinds":["k"],"lease":"1ms"}`: "lease",
		`{"kinds":["k"],"defaults":[{"kind":"x"}]}`:                        "defaults[0].kind",
		`{"kinds":["k"],"defaults":[{"kind":"k","retry":{"factor":0.5}}]}`: "defaults[0].retry",
	} {
		answer, _ := a.send(400, "POST", "/api/v1/workers", body)
		if errs := listOf(answer, "errors"); len(errs) == 0 || errs[0]["field"] != field {
			t.Errorf("%s: %v, want %s", body, answer, field)
		}
	}
	w := a.join(`{"kinds":["k"]}`)
	for fields, field := range map[string]string{
		`"settlements":[{"id":1,"fence":1,"outcome":"explode"}]`:                                               "settlements[0].outcome",
		`"settlements":[{"id":1,"fence":1,"outcome":"await"}]`:                                                 "settlements[0].after",
		`"settlements":[{"id":1,"fence":1,"outcome":"succeed"},{"id":1,"fence":1,"outcome":"fail"}]`:           "settlements[1].id",
		`"settlements":[{"id":1,"fence":1,"outcome":"fail","replace":{"kind":"k"}}]`:                           "settlements[0].replace",
		`"settlements":[{"id":1,"fence":1,"outcome":"succeed","output":"` + strings.Repeat("x", 1<<20) + `"}]`: "settlements[0].output",
	} {
		if errs := listOf(w.call(400, "settle", fields), "errors"); len(errs) == 0 || errs[0]["field"] != field {
			t.Errorf("%.80s: %v, want %s", fields, errs, field)
		}
	}
}

// The audit log records who joined, but not the secret of the session.
func TestASessionIsNotInTheAuditLog(t *testing.T) {
	a := newGuardedAPI(t)
	joined, _ := a.send(200, "POST", "/api/v1/workers", `{"name":"mailer","kinds":["mail"]}`, "Authorization", "Bearer "+a.token(access.RoleWorker, ""))
	log, _ := a.send(200, "GET", "/api/v1/audit", "", "Authorization", "Bearer "+a.token(access.RoleAdmin, ""))
	if text := fmt.Sprint(log); !strings.Contains(text, "JoinWorker") || strings.Contains(text, joined["session"].(string)) {
		t.Errorf("the audit log is %s", text)
	}
}
