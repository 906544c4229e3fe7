package server_test

import "testing"

// Source 004, briefing: jobs have a retry policy, also for what their tenant fails.
func TestAFailureToldForAWaitingJobIsTriedAgainUnlessItIsFinal(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":9}`)
	waiting := func() (path string) {
		path = a.enqueue(`{"kind":"k","max_attempts":2,"retry":{"base":"3600s","factor":1,"precise":true}}`)
		w.settle(w.lease("")[0], `"outcome":"await","after":"1h","or_retry":true`)
		a.wantState(path, "waiting")
		return path
	}
	path := waiting()
	retried, _ := a.send(200, "POST", path+"/fail", `{"error":"out of stock"}`)
	wantFields(t, retried, map[string]any{"state": "scheduled", "failures": 1.0})
	a.send(200, "POST", path+"/run", `{}`)
	w.settle(w.lease("")[0], `"outcome":"await","after":"1h","or_retry":true`)
	failed, _ := a.send(200, "POST", path+"/fail", `{"error":"still out of stock"}`)
	wantFields(t, failed, map[string]any{"state": "failed", "error": "still out of stock", "attempt": 2.0, "failures": 2.0})

	failed, _ = a.send(200, "POST", waiting()+"/fail", `{"error":"never heard of it","final":true}`)
	wantFields(t, failed, map[string]any{"state": "failed", "error": "never heard of it", "attempt": 1.0})
	problem := w.call(400, "settle", `"settlements":[{"id":1,"fence":1,"outcome":"succeed","or_retry":true}]`)
	if refusals(problem)["settlements[0].or_retry"] == "" {
		t.Errorf("it is refused as %v", problem)
	}
}
