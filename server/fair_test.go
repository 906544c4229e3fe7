package server_test

import "testing"

func TestTheOrderOfAQueueIsSetAndExplained(t *testing.T) {
	a := newAPI(t)
	limit, _ := a.send(200, "PUT", "/api/v1/limits/queue:mail", `{"order":"fair"}`)
	wantFields(t, limit, map[string]any{"scope": "queue:mail", "order": "fair"})
	a.send(400, "PUT", "/api/v1/limits/kind:noop", `{"order":"fair"}`)
	a.send(400, "PUT", "/api/v1/limits/global", `{"order":"random"}`)
	a.send(200, "POST", "/api/v1/tenants", `{"name":"acme","weight":3}`)
	why, _ := a.send(200, "GET", a.enqueue(`{"kind":"noop","queue":"mail","tenant":"acme"}`)+"/explain", "")
	share, _ := why["share"].(map[string]any)
	wantFields(t, share, map[string]any{"queue": "mail", "weight": 3.0, "entitled": 1.0})
	why, _ = a.send(200, "GET", a.enqueue(`{"kind":"noop"}`)+"/explain", "")
	if why["share"] != nil {
		t.Errorf("a share of a queue that goes by deadline: %v", why["share"])
	}
}
