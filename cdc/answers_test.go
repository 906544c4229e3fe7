package cdc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
)

// Before 3.5 a connector can only be paused, and its offsets are not told.
func TestAnOldClusterPauses(t *testing.T) {
	w := newWorld(t, connecttest.Options{Old: true}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	initial := w.fleet.Snapshot()
	r := w.run(cdc.BatchStop, ``)
	r.must(r.forward)
	w.expect("after it was stopped", edited(initial, state(connecttest.Paused)))
	r.must(r.back)
	w.expect("after that was undone", initial)
	for batch, after := range map[string]string{cdc.BatchSwitchAZ: toB, cdc.BatchResetGTID: `{"reset_gtid":{"gtid":"0-1-1"}}`} {
		expectError(t, w.ops[batch].Process(w.context(), task(batch), nil, raw(after)), "3.6 or newer")
		w.expect("after "+batch+" was refused", initial)
	}
}

func TestWhatFailedIsRestartedOnce(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	w.fleet.Break("a-k8s", "orders", "lost the binlog", 1)
	r := w.run(cdc.BatchStart, ``)
	if r.done() {
		t.Error("a connector whose task has failed counts as started")
	}
	r.must(r.forward)
	if !r.done() {
		t.Error("it does not run after its restart")
	}
}

func TestAFailureSaysWhyWithoutSecrets(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	w.fleet.Break("a-k8s", "orders", "org.Wrong: cannot log in with "+password+"\n\tat Somewhere", -1)
	err := w.ops[cdc.BatchStart].Process(w.context(), task(cdc.BatchStart), nil, nil)
	expectError(t, err, "has failed: task 0: org.Wrong: cannot log in with ***")
	if strings.Contains(err.Error(), "Somewhere") {
		t.Errorf("the error has the whole trace: %v", err)
	}
}

// If the copy does not run, the connector is still where it was, and a rollback
// lets it run there.
func TestAMoveThatFailsCanBeRolledBack(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	initial := w.fleet.Snapshot()
	r := w.run(cdc.BatchSwitchAZ, toB)
	w.fleet.BreakNew("b-k8s", "no route to the database")
	for range 2 {
		expectError(t, r.forward(r.context()), "no route to the database", `stopped on cluster "a-k8s"`, "roll back")
	}
	r.must(r.back)
	w.expect("after it was rolled back", initial)
}

func TestARefusedConfigSaysWhyWithoutSecrets(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	classless := orders(connecttest.Running)
	delete(classless.Config, "connector.class")
	w.fleet.Add("a-k8s", "orders", classless)
	err := w.ops[cdc.BatchChangeConfig].Process(w.context(), task(cdc.BatchChangeConfig), nil, raw(`{"change_config":{"replicas":2}}`))
	expectError(t, err, "400", "contains no connector type", "***")
}

func TestAWrongPasswordSaysSo(t *testing.T) {
	w := newWorld(t, connecttest.Options{Username: "fairlead", Password: "right"}, func(c *cdc.Config) { c.Clusters[0].Password = password })
	_, err := w.ops[cdc.BatchStop].BuildParam(w.context(), task(cdc.BatchStop), nil)
	expectError(t, err, "401", "check the cluster's username and password")
}

func TestWhatIsNoKafkaConnectSaysSo(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, func(c *cdc.Config) { c.Clusters[0].URL = "http://127.0.0.1:1" })
	_, err := w.ops[cdc.BatchStop].BuildParam(w.context(), task(cdc.BatchStop), nil)
	expectError(t, err, `cluster "a-k8s" did not respond`)
}

func TestAResetNeedsOffsetsWithAGTID(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	fresh := orders(connecttest.Running)
	fresh.Offsets = nil
	w.fleet.Add("a-k8s", "orders", fresh)
	const after = `{"reset_gtid":{"gtid":"0-1-1"}}`
	expectError(t, w.ops[cdc.BatchResetGTID].Process(w.context(), task(cdc.BatchResetGTID), nil, raw(after)), "no offsets yet", "start it once")
	w.fleet.SetOffsets("a-k8s", "orders", offsets("", 1)[:1])
	expectError(t, w.ops[cdc.BatchResetGTID].Process(w.context(), task(cdc.BatchResetGTID), nil, raw(after)), `"gtids"`, "gtid setting")
	if now := w.fleet.Snapshot()["a-k8s"]["orders"].State; now != connecttest.Running {
		t.Errorf("it is %s after a reset that could not work", now)
	}
}

func TestSettingsNameTheProperties(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, func(c *cdc.Config) {
		c.Sizes = cdc.Sizes{CPU: []cdc.Property{}, Memory: []cdc.Property{{Name: "buffer.kib", Factor: 1024}}}
		c.GTID = cdc.GTIDNames{GTID: "seen", Within: []string{"skip"}}
		c.MigrationDefaults = map[string]string{"connector.class": "x"}
	})
	connector := orders(connecttest.Running)
	connector.Offsets = []connecttest.Offset{{Partition: raw(`{}`), Offset: raw(`{"seen":"0-1-1","skip":4,"row":2}`)}}
	w.fleet.Add("a-k8s", "orders", connector)
	err := w.ops[cdc.BatchChangeConfig].Check(task(cdc.BatchChangeConfig), nil, raw(`{"change_config":{"cpu":2}}`))
	expectField(t, err, "after.change_config.cpu", "not mapped to any property")
	resize := w.run(cdc.BatchChangeConfig, `{"change_config":{"memory":3}}`)
	resize.must(resize.forward)
	reset := w.run(cdc.BatchResetGTID, `{"reset_gtid":{"gtid":"0-1-9"}}`)
	reset.must(reset.forward)
	migrate := w.run(cdc.BatchMigrate, `{"migrate_panama":{"connector":"made","run_system":"vm","start":false}}`)
	migrate.must(migrate.forward)
	got := w.fleet.Snapshot()
	if value := got["a-k8s"]["orders"].Config["buffer.kib"]; value != "3072" {
		t.Errorf("memory is written as %q", value)
	}
	if value := string(got["a-k8s"]["orders"].Offsets[0].Offset); value != `{"row":2,"seen":"0-1-9"}` {
		t.Errorf("the GTID is written as %s", value)
	}
	if made := got["a-vm"]["made"]; made.State != connecttest.Stopped || made.Config["connector.class"] != "x" {
		t.Errorf("the migrated connector is %+v", made)
	}
}

// A batch of connectors on a cluster that fails a tenth of all creations: these
// tasks fail, a retry does them, and a rollback leaves everything as it was.
func TestABatchWithFailures(t *testing.T) {
	const n = 40
	w := newWorld(t, connecttest.Options{Settle: time.Millisecond, Rebalance: time.Millisecond}, nil)
	for i := range n {
		connector := orders(connecttest.Running)
		connector.Config["name"] = fmt.Sprintf("orders-%d", i)
		w.fleet.Add("a-k8s", connector.Config["name"], connector)
	}
	initial := w.fleet.Snapshot()
	w.fleet.Fail(connecttest.Failure{Method: "POST", PerConnector: true, Ratio: 0.1, Seed: 5, Times: 1})
	op := w.ops[cdc.BatchSwitchAZ]
	tasks := make([]*run, n)
	failed := 0
	for i := range tasks {
		r := &run{world: w, op: op, task: task(cdc.BatchSwitchAZ), after: raw(toB)}
		r.task.TargetName = fmt.Sprintf("orders-%d", i)
		r.must(func(ctx context.Context) (err error) { r.before, err = op.BuildParam(ctx, r.task, r.after); return err })
		if r.forward(r.context()) != nil {
			failed++
		}
		tasks[i] = r
	}
	if failed == 0 || failed > n/3 {
		t.Fatalf("%d of %d tasks failed, wanted about a tenth", failed, n)
	}
	for _, r := range tasks {
		r.must(r.forward)
	}
	if got := w.fleet.Snapshot(); len(got["b-k8s"]) != n || len(got["a-k8s"]) != 0 {
		t.Errorf("after the retry %d are moved and %d are not", len(got["b-k8s"]), len(got["a-k8s"]))
	}
	for _, r := range tasks {
		r.must(r.back)
	}
	w.expect("after the rollback", initial)
}

// hanging is a connection to clusters that do not answer writes in time.
type hanging struct{ http.RoundTripper }

func (h hanging) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		return nil, context.DeadlineExceeded // as at the end of RequestTimeout
	}
	return h.RoundTripper.RoundTrip(request)
}

// Batches retry a task if its error is a timeout.
func TestAWriteThatHangsIsATimeout(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, func(c *cdc.Config) { c.Transport = hanging{http.DefaultTransport} })
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	r := w.run(cdc.BatchStop, `{}`)
	if err := r.forward(r.context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
