package external_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

// gated starts a sweep with a gate at the service.
func (w *world) gated() sweep.Sweep {
	w.Helper()
	made, err := w.sweeps.Put(w.Context(), sweep.Sweep{
		Name: "all users", Kind: "nobody", Tenant: "acme", To: 10, Data: json.RawMessage(`{"a":1}`), Gate: sweep.Gate{BeforeRun: w.service.url + "/gate"},
	})
	if err == nil {
		made, err = w.sweeps.Start(w.Context(), made.ID, "me")
	}
	if err != nil {
		w.Fatal(err)
	}
	return made
}

func TestTheGateOfASweepIsAsked(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	w.node(w.store, nil, false)
	made := w.gated()
	id := strconv.FormatInt(made.ID, 10)
	asked := w.service.next()
	asked.has(t, map[string]any{
		"event": "sweep_waiting", "sweep_id": id, "sweep_name": "all users", "tenant": "acme", "run": 1.0,
		"open_url": "https://fairlead.example.org/api/v1/sweeps/" + id + "/open",
	})
	if asked.path != "/gate" || asked.header.Get("Webhook-Signature") == "" || asked.body["data"].(map[string]any)["a"] != 1.0 {
		t.Errorf("asked is %s with %v", asked.raw, asked.header)
	}
	w.service.quiet()
}

// A caller that may enqueue must not be able to send signed messages to any address.
func TestAGateCallThatNoSweepMadeIsForged(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	w.node(w.store, nil, false)
	made := w.gated()
	w.service.next()
	for name, change := range map[string]func(*sweep.GateCall, *fairlead.Job){
		"tenant": func(_ *sweep.GateCall, j *fairlead.Job) { j.Tenant = "mallory" },
		"url":    func(c *sweep.GateCall, _ *fairlead.Job) { c.URL = w.service.url + "/else" },
		"run":    func(c *sweep.GateCall, _ *fairlead.Job) { c.Run = 2 },
		"sweep":  func(c *sweep.GateCall, _ *fairlead.Job) { c.Sweep = 1_000_000 },
	} {
		told := sweep.GateCall{URL: w.service.url + "/gate", Sweep: made.ID, Run: 1}
		job := &fairlead.Job{Kind: sweep.GateKind}
		change(&told, job)
		var err error
		if job.Args, err = json.Marshal(told); err != nil {
			t.Fatal(err)
		}
		if done := w.ended(w.enqueue(job)); done.State != fairlead.Failed || done.Attempt != 1 {
			t.Errorf("with another %s it ended as %s: %s", name, done.State, done.Error)
		}
	}
	w.service.quiet()
}
