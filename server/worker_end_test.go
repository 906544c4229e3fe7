package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/driver"
)

func TestTheLeaseOfAWorkerIsWithinBounds(t *testing.T) {
	a := newAPI(t)
	for lease, want := range map[string]int{"0.5s": 200, "300s": 200, "0.499999s": 400, "300.000001s": 400, "-1s": 400, "0s": 400} {
		answer, _ := a.send(want, "POST", "/api/v1/workers", `{"kinds":["k"],"lease":"`+lease+`"}`)
		if want == 200 && answer["lease"] != lease || want == 400 && refusals(answer)["lease"] == "" {
			t.Errorf("a lease of %s is answered with %v", lease, answer)
		}
	}
	long, _ := a.send(200, "POST", "/api/v1/workers", `{"kinds":["k"],"lease":"300s"}`)
	short, _ := a.send(200, "POST", "/api/v1/workers", `{"kinds":["k"],"lease":"0.6s"}`)
	none, _ := a.send(200, "POST", "/api/v1/workers", `{"kinds":["k"]}`)
	if long["beat"] != "1s" || short["beat"] != "0.2s" || none["lease"] != "10s" {
		t.Errorf("they are to beat every %v and %v; without one it is %v", long["beat"], short["beat"], none["lease"])
	}
}

// A worker whose lease has expired may still report the outcome of its jobs, until they are
// taken back.
func TestAWorkerThatWasSilentStillSettlesWhatWasNotTakenBack(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":1}`)
	path := a.enqueue(`{"kind":"k"}`)
	job := w.lease("")[0]
	nodes, err := a.store.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(w.session, ".")
	if err := a.store.Leave(driver.AsNode(t.Context(), token), nodes[0].ID); err != nil { // as if its lease had run out
		t.Fatal(err)
	}
	w.call(409, "beat", "")
	a.join(`{"kinds":["k"]}`).call(200, "", "") // after which the server looks at the nodes again
	if ended := w.settle(job, `"outcome":"succeed","output":7,"progress":{"n":1},"memo":{"m":2}`); ended["result"] != "as_asked" {
		t.Errorf("it ended as %v", ended)
	}
	done := a.wantState(path, "succeeded")
	if jsonOf(t, done["progress"]) != `{"n":1}` || done["output"] != 7.0 {
		t.Errorf("it is %v", done)
	}
}

func TestWhatCannotBeSaidOfARun(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"]}`)
	for end, field := range map[string]string{
		`"outcome":"fail","after":"-1s"`:            "after",
		`"outcome":"fatal","reason":"timeout"`:      "reason",
		`"outcome":"await"`:                         "after",
		`"outcome":"snooze","replace":{"kind":"k"}`: "replace",
		`"outcome":"succeed","replace":{"kind":""}`: "replace.kind",
		`"outcome":"fail","reason":"bored"`:         "reason",
	} {
		problem := w.call(400, "settle", `"settlements":[{"id":1,"fence":1,`+end+`}]`)
		if refusals(problem)["settlements[0]."+field] == "" {
			t.Errorf("%s is refused as %v, want %s", end, problem, field)
		}
	}
}

// Who answers for a job by hand means its current run, unless another is named.
func TestAJobIsAnsweredForByHand(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":9}`)
	waiting := func() (path, fence string) {
		path = a.enqueue(`{"kind":"k","max_attempts":1}`)
		job := w.lease("")[0]
		w.settle(job, `"outcome":"await","after":"1h"`)
		a.wantState(path, "waiting")
		return path, job["fence"].(string)
	}
	path, fence := waiting()
	a.send(409, "POST", path+"/finish", `{"output":1,"fence":`+fence+`9}`)
	a.wantState(path, "waiting")
	done, _ := a.send(200, "POST", path+"/finish", `{"output":{"n":1}}`)
	if done["state"] != "succeeded" || jsonOf(t, done["output"]) != `{"n":1}` {
		t.Errorf("it is %v", done)
	}
	problem, _ := a.send(409, "POST", path+"/finish", `{"output":2}`)
	if !strings.Contains(fmt.Sprint(problem["detail"]), "succeeded") {
		t.Errorf("it is refused as %v", problem)
	}
	path, fence = waiting()
	failed, _ := a.send(200, "POST", path+"/fail", `{"error":"no","fence":`+fence+`}`)
	wantFields(t, failed, map[string]any{"state": "failed", "error": "no"})
	a.send(404, "POST", "/api/v1/jobs/999/finish", `{}`)
}
