package cdc_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
)

type fleetState = map[string]map[string]connecttest.Connector

// example is an operation with its effect on the fleet.
type example struct {
	name  string
	batch string
	state string // of the connector before; empty: there is none
	after string
	edit  func(fleetState)
}

const record = `{"migrate_panama":{"az":"a","run_system":"vm","replicas":2,
	"config":{"connector.class":"io.debezium.connector.mysql.MySqlConnector","max.batch.size":512,"database.password":"${file:/run/db:password}"},
	"offsets":[{"partition":{"server":"orders"},"offset":{"gtids":"0-1-100","file":"bin.1","pos":9007199254740993}}]}}`

var examples = []example{
	{"start what is stopped", cdc.BatchStart, connecttest.Stopped, ``, state(connecttest.Running)},
	{"start what is paused", cdc.BatchStart, connecttest.Paused, `null`, state(connecttest.Running)},
	{"stop", cdc.BatchStop, connecttest.Running, `{}`, state(connecttest.Stopped)},
	{"change config", cdc.BatchChangeConfig, connecttest.Running, `{"change_config":{"cpu":2,"memory":64,"max_package_size":1000,"replicas":3}}`, resized},
	{"change config of what is stopped", cdc.BatchChangeConfig, connecttest.Stopped, `"{\"change_config\":{\"cpu\":2,\"memory\":64,\"max_package_size\":1000,\"replicas\":3}}"`, resized},
	{"reset GTID", cdc.BatchResetGTID, connecttest.Running, `{"reset_gtid":{"gtid":"` + uuid + `:1-5"}}`, rewound},
	{"reset GTID of what is paused", cdc.BatchResetGTID, connecttest.Paused, `{"reset_gtid":{"gtid":"` + uuid + `:1-5"}}`, rewound},
	{"switch AZ", cdc.BatchSwitchAZ, connecttest.Running, `{"switch_az":{"az":"b"}}`, moved("b-k8s")},
	{"switch AZ of what is stopped", cdc.BatchSwitchAZ, connecttest.Stopped, `{"switch_az":{"az":"b"},"reset_gtid":{"gtid":""}}`, moved("b-k8s")},
	{"switch AZ of what is paused", cdc.BatchSwitchAZ, connecttest.Paused, `{"switch_az":{"az":"b"}}`, moved("b-k8s")},
	{"switch run system", cdc.BatchSwitchRunSystem, connecttest.Running, `{"switch_run_system":{"run_system":"vm"}}`, moved("a-vm")},
	{"migrate", cdc.BatchMigrate, "", record, func(s fleetState) {
		s["a-vm"]["orders"] = connecttest.Connector{
			State: connecttest.Running,
			Config: map[string]string{
				"name": "orders", "connector.class": "io.debezium.connector.mysql.MySqlConnector", "max.batch.size": "512", "tasks.max": "2",
				"database.password": "${file:/run/db:password}",
			},
			Offsets: []connecttest.Offset{{Partition: raw(`{"server":"orders"}`), Offset: raw(`{"file":"bin.1","gtids":"0-1-100","pos":9007199254740993}`)}},
		}
	}},
}

func state(to string) func(fleetState) {
	return func(s fleetState) {
		connector := s["a-k8s"]["orders"]
		connector.State = to
		s["a-k8s"]["orders"] = connector
	}
}

func resized(s fleetState) {
	config := s["a-k8s"]["orders"].Config
	config["snapshot.max.threads"], config["max.queue.size.in.bytes"] = "2", "67108864"
	config["max.batch.size"], config["max.queue.size"], config["tasks.max"] = "1000", "4000", "3"
}

func rewound(s fleetState) {
	connector := s["a-k8s"]["orders"]
	connector.Offsets = []connecttest.Offset{connector.Offsets[0], {
		Partition: raw(`{"server":"orders"}`), Offset: raw(`{"file":"bin.000009","gtids":"` + uuid + `:1-5","pos":9007199254740993}`),
	}}
	s["a-k8s"]["orders"] = connector
}

func moved(to string) func(fleetState) {
	return func(s fleetState) {
		connector := s["a-k8s"]["orders"]
		delete(s["a-k8s"], "orders")
		if to == "b-k8s" {
			connector.Config["schema.history.internal.kafka.bootstrap.servers"] = "kafka-b:9092"
		}
		s[to]["orders"] = connector
	}
}

// makesOne reports whether an example makes a connector.
func (e example) makesOne() bool {
	return e.batch == cdc.BatchSwitchAZ || e.batch == cdc.BatchSwitchRunSystem || e.batch == cdc.BatchMigrate
}

// begin makes a world for an example and builds its parameters.
func (e example) begin(t testing.TB, options connecttest.Options, change func(*cdc.Config)) (r *run, initial, final fleetState) {
	t.Helper()
	w := newWorld(t, options, change)
	if e.state != "" {
		w.fleet.Add("a-k8s", "orders", orders(e.state))
	}
	w.fleet.Add("a-k8s", "other", orders(connecttest.Running))
	return e.beginIn(w)
}

// beginIn starts over in an unchanged world.
func (e example) beginIn(w *world) (r *run, initial, final fleetState) {
	w.t.Helper()
	initial = w.fleet.Snapshot()
	return w.run(e.batch, e.after), initial, edited(initial, e.edit)
}

func TestOperations(t *testing.T) {
	for name, options := range map[string]connecttest.Options{
		"at once":     {},
		"slow":        {Latency: 2 * time.Millisecond, Settle: 20 * time.Millisecond},
		"rebalancing": {Rebalance: 15 * time.Millisecond, Settle: 5 * time.Millisecond},
		"version 3.6": {NoInitialState: true, Settle: 3 * time.Millisecond},
		"with auth":   {Username: "fairlead", Password: password},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range examples {
				t.Run(e.name, func(t *testing.T) {
					t.Parallel()
					r, initial, final := e.begin(t, options, nil)
					if r.done() {
						t.Fatal("it counts as done before it was begun")
					}
					r.must(r.forward)
					r.expect("after it was done", final)
					r.must(func(ctx context.Context) error { return r.op.Process(ctx, r.task, r.before, r.after) })
					r.expect("after it was done again", final)
					r.must(r.back)
					r.expect("after it was undone", initial)
					r.must(func(ctx context.Context) error { return r.op.Undo(ctx, r.task, r.before, r.after) })
					r.expect("after it was undone again", initial)
				})
			}
		})
	}
}

// A completed operation counts as done, so that a repeat changes nothing. For connectors to
// be paused, this is never known for sure.
func TestWhatIsDoneIsNotDoneAgain(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			r, _, _ := e.begin(t, connecttest.Options{}, nil)
			r.must(r.forward)
			if known := e.batch != cdc.BatchResetGTID || e.state != connecttest.Paused; r.done() != known {
				t.Errorf("done: %v", !known)
			}
			r.must(r.back)
			if known := e.state == connecttest.Running || e.state == ""; r.done() != known {
				t.Errorf("undone: %v", !known)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	want := map[string]time.Duration{
		cdc.BatchStart: 20 * time.Second, cdc.BatchStop: 20 * time.Second, cdc.BatchChangeConfig: 20 * time.Second,
		cdc.BatchSwitchAZ: 30 * time.Second, cdc.BatchSwitchRunSystem: 30 * time.Second,
		cdc.BatchResetGTID: 480 * time.Second, cdc.BatchMigrate: 20 * time.Second,
	}
	w := newWorld(t, connecttest.Options{}, nil)
	if len(w.ops) != len(want) {
		t.Errorf("there are %d operations, wanted %d", len(w.ops), len(want))
	}
	for name, timeout := range want {
		if w.ops[name].Timeout != timeout {
			t.Errorf("%s may take %s, wanted %s", name, w.ops[name].Timeout, timeout)
		}
	}
}
