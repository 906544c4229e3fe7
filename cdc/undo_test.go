package cdc_test

import (
	"testing"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
)

// at returns the cluster of a connector after an example was performed.
func (e example) at() string {
	switch e.batch {
	case cdc.BatchSwitchAZ:
		return "b-k8s"
	case cdc.BatchSwitchRunSystem, cdc.BatchMigrate:
		return "a-vm"
	}
	return "a-k8s"
}

// Undoing puts offsets back too when the connector has read on since.
func TestUndoGoesBackToTheSnapshot(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			r, initial, _ := e.begin(t, connecttest.Options{}, nil)
			r.must(r.forward)
			r.fleet.SetOffsets(e.at(), "orders", append(offsets("0-1-500", 4), connecttest.Offset{Partition: raw(`{"server":"new"}`), Offset: raw(`{"pos":1}`)}))
			r.must(r.back)
			r.expect("after it was undone", initial)
		})
	}
}

// With KeepProgress it reads on from where it came to, except after a reset.
func TestUndoKeepsProgressIfToldTo(t *testing.T) {
	for _, e := range examples {
		if e.batch == cdc.BatchMigrate {
			continue // the connector is gone
		}
		t.Run(e.name, func(t *testing.T) {
			r, initial, _ := e.begin(t, connecttest.Options{}, func(c *cdc.Config) { c.KeepProgress = true })
			for k, broken := 1, true; broken; k++ {
				read := offsets("0-1-500", int64(k))
				r.must(r.forward)
				r.fleet.SetOffsets(e.at(), "orders", read)
				broken = r.breakOff(r.back, k)
				r.must(r.back)
				want := initial
				if e.batch != cdc.BatchResetGTID {
					want = edited(initial, func(s fleetState) {
						connector := s["a-k8s"]["orders"]
						connector.Offsets = read
						s["a-k8s"]["orders"] = connector
					})
				}
				r.expect("after it was undone", want)
				r, initial, _ = e.beginIn(r.world)
			}
		})
	}
}

// A connector that is back and reads on is not set back by a repeat.
func TestProgressAtHomeIsKeptToo(t *testing.T) {
	r, _, _ := examples[7].begin(t, connecttest.Options{}, func(c *cdc.Config) { c.KeepProgress = true })
	r.must(r.forward)
	r.fleet.Fail(connecttest.Failure{Method: "DELETE"})
	if err := r.back(r.context()); err == nil {
		t.Fatal("undoing succeeds although nothing can be deleted")
	}
	r.fleet.Heal()
	read := offsets("0-1-900", 5)
	r.fleet.SetOffsets("a-k8s", "orders", read)
	r.must(r.back)
	if got := r.fleet.Snapshot()["a-k8s"]["orders"].Offsets[1].Offset; string(got) != string(read[1].Offset) {
		t.Errorf("it reads on from %s, wanted %s", got, read[1].Offset)
	}
}

// What a caller gives as `before` has no snapshot; undoing does the opposite.
func TestUndoWithoutASnapshot(t *testing.T) {
	for _, e := range []struct {
		name, before string
		example
	}{
		{"start", ``, examples[0]},
		{"stop", `null`, examples[2]},
		{"change config", `{"change_config":{"replicas":1,"max_package_size":2048}}`, example{
			batch: cdc.BatchChangeConfig, state: connecttest.Running,
			after: `{"change_config":{"replicas":2,"max_package_size":2000}}`,
			edit: func(s fleetState) {
				config := s["a-k8s"]["orders"].Config
				config["tasks.max"], config["max.batch.size"], config["max.queue.size"] = "2", "2000", "8000"
			},
		}},
		{"reset GTID", `{"reset_gtid":{"gtid":"` + uuid + `:1-77"}}`, examples[5]},
		{"switch AZ", `{"switch_az":{"az":"a"}}`, example{batch: cdc.BatchSwitchAZ, state: connecttest.Running, after: toB, edit: moved("b-k8s")}},
		{"reset GTID of a stopped one", `{"reset_gtid":{"gtid":"` + uuid + `:1-77"}}`, examples[5].with(connecttest.Stopped)},
		{"reset GTID of a paused one", `{"reset_gtid":{"gtid":"` + uuid + `:1-77"}}`, examples[5].with(connecttest.Paused)},
		{"switch AZ of a stopped one", `{"switch_az":{"az":"a"}}`, example{batch: cdc.BatchSwitchAZ, state: connecttest.Stopped, after: toB, edit: moved("b-k8s")}},
		{"switch AZ of a paused one", `{"switch_az":{"az":"a"}}`, example{batch: cdc.BatchSwitchAZ, state: connecttest.Paused, after: toB, edit: moved("b-k8s")}},
		{"switch run system of a stopped one", `{"switch_run_system":{"run_system":"k8s"}}`, examples[10].with(connecttest.Stopped)},
		{"switch run system", `"{\"switch_run_system\":{\"run_system\":\"k8s\"}}"`, examples[10]},
		{"migrate", `{}`, examples[11]},
	} {
		t.Run(e.name, func(t *testing.T) {
			r, initial, final := e.begin(t, connecttest.Options{}, func(c *cdc.Config) {
				c.Clusters[0].Properties = map[string]string{"schema.history.internal.kafka.bootstrap.servers": "kafka-a:9092"}
			})
			for k, broken := 1, true; broken; k++ {
				r.before = raw(e.before)
				broken = r.breakOff(r.forward, k)
				r.must(r.forward)
				r.expect("after it was done", final)
				broken = r.breakOff(r.back, k) || broken
				r.must(r.back)
				// Sizes that were not there before, and counts within a transaction, are not known.
				got := r.fleet.Snapshot()["a-k8s"]["orders"]
				want := initial["a-k8s"]["orders"]
				if got.State != want.State || got.Config["max.batch.size"] != want.Config["max.batch.size"] || len(got.Offsets) != len(want.Offsets) {
					t.Fatalf("after it was undone there is\n%s\nwanted\n%s", shown(r.fleet.Snapshot()), shown(initial))
				}
				if e.makesOne() {
					r.expect("after it was undone", initial)
				}
				r, initial, final = e.beginIn(r.world)
			}
		})
	}
}

// A state that a batch has left behind does not count for another batch, nor after an operator has
// started and stopped the connector.
func TestAStateThatWasLeftBehindDoesNotCount(t *testing.T) {
	for name, meanwhile := range map[string]func(w *world){
		"it was started and stopped since": func(w *world) {
			for _, batch := range []string{cdc.BatchStart, cdc.BatchStop} {
				r := w.run(batch, ``)
				r.must(r.forward)
			}
		},
		"the batch is another one": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, connecttest.Options{}, nil)
			w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
			given := w.run(cdc.BatchSwitchAZ, toB)
			given.before = raw(`{"switch_az":{"az":"a"}}`)
			w.fleet.Fail(connecttest.Failure{Cluster: "b-k8s", Method: "POST"})
			if err := given.forward(w.context()); err == nil {
				t.Fatal("it was moved")
			}
			w.fleet.Heal()
			meanwhile(w)
			again := w.run(cdc.BatchSwitchAZ, toB)
			again.task.BatchID, again.before = 2, given.before
			again.must(again.forward)
			moved := w.fleet.Snapshot()["b-k8s"]["orders"]
			if moved.State != connecttest.Stopped {
				t.Errorf("it is %s, and was stopped before", moved.State)
			}
			if _, left := moved.Config["fairlead.state"]; left {
				t.Error("its state is kept although it was moved")
			}
		})
	}
}

func TestAPausedConnectorWithAFailedTaskStaysPaused(t *testing.T) {
	for _, before := range []string{``, `{"switch_az":{"az":"a"}}`} {
		w := newWorld(t, connecttest.Options{}, nil)
		w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
		w.fleet.Break("a-k8s", "orders", "lost the binlog", 1)
		pause := w.run(cdc.BatchStop, ``)
		w.fleet.Fail(connecttest.Failure{Cluster: "a-k8s", Path: "/stop", Status: 405}) // it is too old to stop
		pause.must(pause.forward)
		w.fleet.Heal()
		r := w.run(cdc.BatchSwitchAZ, toB)
		if before != "" {
			r.before = raw(before)
		}
		r.must(r.forward)
		if state := w.fleet.Snapshot()["b-k8s"]["orders"].State; state != connecttest.Paused {
			t.Errorf("with the given %q it is %s after its move", before, state)
		}
	}
}

// with returns the example with a connector in another state.
func (e example) with(state string) example {
	e.state = state
	return e
}

func TestUndoNeedsSomethingToGoBackTo(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	for batch, field := range map[string]string{
		cdc.BatchChangeConfig:    "before.change_config",
		cdc.BatchResetGTID:       "before.reset_gtid.gtid",
		cdc.BatchSwitchAZ:        "before.switch_az.az",
		cdc.BatchSwitchRunSystem: "before.switch_run_system.run_system",
	} {
		err := w.ops[batch].Undo(w.context(), task(batch), nil, raw(toB))
		expectField(t, err, field, "is empty")
	}
}
