package cdc_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
)

const toB = `{"switch_az":{"az":"b"}}`

func expectError(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("it ends with %v, wanted an error that says %q", err, part)
		}
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("the error has the secret: %v", err)
	}
}

func TestWhatIsNotFoundSaysWhere(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	_, err := w.ops[cdc.BatchStop].BuildParam(w.context(), task(cdc.BatchStop), nil)
	expectError(t, err, `"orders"`, "a-k8s, a-vm", "check its name")
	_, err = w.ops[cdc.BatchSwitchAZ].BuildParam(w.context(), task(cdc.BatchSwitchAZ), raw(toB))
	expectError(t, err, `"orders"`, "check its name")
}

func TestAMissingClusterSaysWhatToAdd(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, func(c *cdc.Config) { c.Clusters = append(c.Clusters[:1], c.Clusters[2:]...) }) // no b-k8s
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	_, err := w.ops[cdc.BatchSwitchAZ].BuildParam(w.context(), task(cdc.BatchSwitchAZ), raw(toB))
	expectError(t, err, `env "live", az "b", run system "k8s"`, "add one to the clusters")
	elsewhere := task(cdc.BatchStop)
	elsewhere.AZ = "z"
	_, err = w.ops[cdc.BatchStop].BuildParam(w.context(), elsewhere, nil)
	expectError(t, err, `env "live", az "z"`, "add one to the clusters")
}

func TestANameOnTwoClustersMustBeToldApart(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	w.fleet.Add("b-k8s", "orders", orders(connecttest.Running))
	anywhere := task(cdc.BatchStop)
	anywhere.AZ = ""
	_, err := w.ops[cdc.BatchStop].BuildParam(w.context(), anywhere, nil)
	expectError(t, err, `on clusters "a-k8s" and "b-k8s"; set az`)
	w.run(cdc.BatchStop, ``).must(w.run(cdc.BatchStop, ``).forward)
	if state := w.fleet.Snapshot()["b-k8s"]["orders"].State; state != connecttest.Running {
		t.Errorf("the other one is %s", state)
	}
	_, err = w.ops[cdc.BatchSwitchAZ].BuildParam(w.context(), task(cdc.BatchSwitchAZ), raw(toB))
	expectError(t, err, `connector "orders" exists on clusters "b-k8s" and "a-k8s"; remove it from one of them`)
}

// A connector that another program made at the destination meanwhile is not touched,
// neither by the move nor when it is rolled back.
func TestSomebodyElsesConnectorIsLeftAlone(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	r := w.run(cdc.BatchSwitchAZ, toB)
	theirs := orders(connecttest.Running)
	theirs.Config["database.hostname"] = "another"
	w.fleet.Add("b-k8s", "orders", theirs)
	initial := w.fleet.Snapshot()
	expectError(t, r.forward(r.context()), "a different configuration")
	w.expect("after the move was refused", initial)
	r.must(r.back)
	w.expect("after it was rolled back", initial)
}

// The same with the same config: it runs at both places, so neither is deleted.
func TestATwinIsNotTakenForACopy(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-vm", "orders", orders(connecttest.Running))
	r := w.run(cdc.BatchSwitchAZ, toB)
	w.fleet.Add("b-vm", "orders", orders(connecttest.Running))
	initial := w.fleet.Snapshot()
	expectError(t, r.forward(r.context()), "runs on", "remove the one")
	w.expect("after the move was refused", initial)
}

func TestWhatIsThereAlreadyIsDone(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("b-k8s", "orders", orders(connecttest.Running))
	initial := w.fleet.Snapshot()
	r := w.run(cdc.BatchSwitchAZ, toB)
	if !r.done() {
		t.Error("it does not count as done")
	}
	r.must(func(ctx context.Context) error { return r.op.Process(ctx, r.task, r.before, r.after) })
	w.expect("after it was moved to where it is", initial)
	r.must(r.back)
	w.expect("after that was undone", initial)
}

func TestAMigrationOverAnotherConnectorIsRefused(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-vm", "orders", orders(connecttest.Running))
	initial := w.fleet.Snapshot()
	r := w.run(cdc.BatchMigrate, record)
	expectError(t, r.forward(r.context()), "a different configuration")
	w.expect("after the migration was refused", initial)
	r.must(r.back)
	w.expect("after it was rolled back", initial)
}

func TestAMigratedConnectorThatWasChangedIsNotDeleted(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	r := w.run(cdc.BatchMigrate, record)
	r.must(r.forward)
	w.fleet.SetConfig("a-vm", "orders", orders("").Config)
	expectError(t, r.back(r.context()), "delete it manually")
}

// A connector that was changed after it was moved is still the one that was
// moved: it is deleted when it is back, also if that is broken off.
func TestACopyThatWasChangedGoesBack(t *testing.T) {
	w := newWorld(t, connecttest.Options{}, nil)
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	initial := w.fleet.Snapshot()
	for k := 1; ; k++ {
		r := w.run(cdc.BatchSwitchAZ, toB)
		r.must(r.forward)
		config := w.fleet.Snapshot()["b-k8s"]["orders"].Config
		config["max.batch.size"], config["database.password"] = "1", password+"-renewed"
		w.fleet.SetConfig("b-k8s", "orders", config)
		broken := r.breakOff(r.back, k)
		r.must(r.back)
		want := edited(initial, func(s fleetState) { s["a-k8s"]["orders"].Config["database.password"] = password + "-renewed" })
		w.expect("after it was moved back", want)
		if initial = want; !broken {
			return
		}
	}
}
