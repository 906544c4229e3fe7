package cdc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
	"github.com/fairlead-io/fairlead/internal/patience"
)

const (
	uuid     = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	password = "hunter2-do-not-show"
)

// world is four clusters of two zones and two run systems, one of another
// environment, and a handler that knows them.
type world struct {
	t     testing.TB
	fleet *connecttest.Fleet
	ops   map[string]cdc.Operation
}

var clusterNames = []string{"a-k8s", "b-k8s", "a-vm", "b-vm", "test"}

func newWorld(t testing.TB, options connecttest.Options, change func(*cdc.Config)) *world {
	t.Helper()
	options.Clusters = clusterNames
	w := &world{t: t, fleet: connecttest.New(t, options), ops: map[string]cdc.Operation{}}
	config := cdc.Config{Poll: time.Millisecond, MaxPoll: 4 * time.Millisecond}
	for _, name := range clusterNames {
		cluster := cdc.Cluster{Name: name, Env: "live", URL: w.fleet.URL(name), Username: options.Username, Password: options.Password}
		cluster.AZ, cluster.RunSystem, _ = strings.Cut(name, "-")
		if name == "test" {
			cluster.Env = "test"
		}
		if name == "b-k8s" {
			cluster.Properties = map[string]string{"schema.history.internal.kafka.bootstrap.servers": "kafka-b:9092"}
		}
		config.Clusters = append(config.Clusters, cluster)
	}
	if change != nil {
		change(&config)
	}
	handler, err := cdc.New(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range handler.Operations() {
		w.ops[op.BatchType] = op
	}
	return w
}

// orders returns a Debezium connector with a secret in its config, a position that no float
// can represent, and a partition without a GTID.
func orders(state string) connecttest.Connector {
	return connecttest.Connector{
		State: state,
		Config: map[string]string{
			"name": "orders", "connector.class": "io.debezium.connector.mysql.MySqlConnector", "tasks.max": "1", "max.batch.size": "2048",
			"database.hostname": "db", "database.password": password, "topic.prefix": "orders",
			"schema.history.internal.kafka.bootstrap.servers": "kafka-a:9092",
		},
		Offsets: offsets(uuid+":1-77", 9007199254740993),
	}
}

func offsets(gtid string, pos int64) []connecttest.Offset {
	return []connecttest.Offset{
		{Partition: raw(`{"heartbeat":"orders"}`), Offset: raw(`{"seen":1}`)},
		{Partition: raw(`{"server":"orders"}`), Offset: raw(fmt.Sprintf(`{"event":2,"file":"bin.000009","gtids":"%s","pos":%d,"row":1}`, gtid, pos))},
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func task(batchType string) cdc.Task {
	t := cdc.Task{BatchType: batchType, Env: "live", Region: "sg", AZ: "a", TargetID: "17", TargetName: "orders", TargetType: cdc.TargetCDC}
	if batchType == cdc.BatchMigrate {
		t.TargetType = cdc.TargetPanama
	}
	return t
}

// run is one task of a batch: its parameters, and where it has come to.
type run struct {
	*world
	op     cdc.Operation
	task   cdc.Task
	before json.RawMessage
	after  json.RawMessage
}

func (w *world) run(batchType, after string) *run {
	w.t.Helper()
	op, ok := w.ops[batchType]
	if !ok {
		w.t.Fatalf("there is no operation %s", batchType)
	}
	r := &run{world: w, op: op, task: task(batchType), after: raw(after)}
	if err := op.Check(r.task, nil, r.after); err != nil {
		w.t.Fatal("it is refused:", err)
	}
	before, err := op.BuildParam(w.context(), r.task, r.after)
	if err != nil {
		w.t.Fatal("its parameters are not built:", err)
	}
	if strings.Contains(string(before), password) {
		w.t.Fatalf("the snapshot has the secret: %s", before)
	}
	if err := op.Check(r.task, before, r.after); err != nil {
		w.t.Fatal("it is refused with its snapshot:", err)
	}
	r.before = before
	return r
}

func (w *world) context() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience.Limit)
	w.t.Cleanup(cancel)
	return ctx
}

// forward does what a node does with a task: it asks whether it is done, and
// else does it.
func (r *run) forward(ctx context.Context) error {
	r.task.Undo = false
	if done, err := r.op.AlreadyDone(ctx, r.task, r.after); done || err != nil {
		return err
	}
	return r.op.Process(ctx, r.task, r.before, r.after)
}

// back does the same when the task is rolled back.
func (r *run) back(ctx context.Context) error {
	r.task.Undo = true
	if done, err := r.op.AlreadyDone(ctx, r.task, r.before); done || err != nil {
		return err
	}
	return r.op.Undo(ctx, r.task, r.before, r.after)
}

func (r *run) done() bool {
	r.t.Helper()
	want := r.after
	if r.task.Undo {
		want = r.before
	}
	done, err := r.op.AlreadyDone(r.context(), r.task, want)
	if err != nil {
		r.t.Fatal("whether it is done is not known:", err)
	}
	return done
}

func (r *run) must(do func(context.Context) error) {
	r.t.Helper()
	if err := do(r.context()); err != nil {
		r.t.Fatal(err)
	}
}

// breakOff does something and breaks it off at the k-th request. It reports
// whether it came that far.
func (r *run) breakOff(do func(context.Context) error, k int) (broken bool) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.context())
	defer cancel()
	var seen atomic.Int64
	r.fleet.Watch(func(connecttest.Request) {
		if seen.Add(1) >= int64(k) {
			cancel()
		}
	})
	defer r.fleet.Watch(nil)
	err := do(ctx)
	if err != nil && ctx.Err() == nil {
		r.t.Fatalf("it fails before request %d: %v", k, err)
	}
	return ctx.Err() != nil
}

func (w *world) expect(when string, want map[string]map[string]connecttest.Connector) {
	w.t.Helper()
	if got := w.fleet.Snapshot(); !reflect.DeepEqual(got, want) {
		w.t.Fatalf("%s there is\n%s\nwanted\n%s", when, shown(got), shown(want))
	}
}

func shown(state map[string]map[string]connecttest.Connector) string {
	text, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// edited returns a fleet's snapshot with a change.
func edited(state map[string]map[string]connecttest.Connector, edit func(map[string]map[string]connecttest.Connector)) map[string]map[string]connecttest.Connector {
	copied := map[string]map[string]connecttest.Connector{}
	for cluster, connectors := range state {
		copied[cluster] = map[string]connecttest.Connector{}
		for name, connector := range connectors {
			connector.Config = maps.Clone(connector.Config)
			copied[cluster][name] = connector
		}
	}
	edit(copied)
	return copied
}

func isDeadline(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
