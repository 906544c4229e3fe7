package server_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestANodeIsShownWithItsJobsAndThoseOfItsName(t *testing.T) {
	a := newAPI(t)
	for _, name := range []string{"one", "other"} {
		if _, err := a.store.Join(t.Context(), fairlead.Node{Name: name, Slots: 1}, time.Microsecond); err != nil {
			t.Fatal(err)
		}
	}
	w := a.join(`{"name":"one","kinds":["k"],"slots":3}`)
	a.enqueue(`{"kind":"k","queue":"mail"}`)
	a.enqueue(`{"kind":"k"}`)
	if jobs := w.lease(`"max":2`); len(jobs) != 2 {
		t.Fatalf("%d jobs are leased", len(jobs))
	}
	details, _ := a.send(200, "GET", "/api/v1/nodes/3", "")
	running := items(t, map[string]any{"items": details["running"]})
	if len(running) != 2 || running[0]["id"] != "2" || running[1]["queue"] != "mail" || running[0]["attempt"] != 1.0 || details["running_count"] != 2.0 {
		t.Errorf("%v", details)
	}
	same := items(t, map[string]any{"items": details["same_name"]})
	if len(same) != 1 || same[0]["id"] != "1" || same[0]["dead"] != true {
		t.Errorf("%v", details)
	}
	if alone, _ := a.send(200, "GET", "/api/v1/nodes/2", ""); alone["running"] != nil || alone["same_name"] != nil {
		t.Errorf("%v", alone)
	}
	a.send(404, "GET", "/api/v1/nodes/4711", "")
}
