package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// dials are the targets of a batch, each with a value that the tasks change. The clauses
// run the tasks one by one, like a node.
type dials struct {
	*fixture
	kind    string // kind of the targets; clauses that share a database use different kinds
	values  map[string]string
	mux     *fairlead.Mux
	batches *batch.Client
	node    fairlead.NodeID
	refuse  error // error that a handler returns before it reads its target
}

var errRefused = errors.New("the dial cannot be read")

const (
	dialBefore = `"low"`
	dialAfter  = `"high"`
)

func newDials(f *fixture, kind string, count int) *dials {
	f.Helper()
	d := &dials{fixture: f, kind: kind, values: map[string]string{}, mux: fairlead.NewMux(), batches: batch.NewClient(f.store)}
	for i := range count {
		d.values[fmt.Sprint(i)] = dialBefore
	}
	batch.Handle(d.mux, batch.Operation{
		TargetType: kind, BatchType: "turn",
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			if d.refuse != nil {
				return nil, d.refuse
			}
			return json.RawMessage(d.values[task.Target.ID]), nil
		},
		Process: func(_ context.Context, task batch.TaskArgs) error {
			d.values[task.Target.ID] = string(task.After)
			return nil
		},
	})
	d.rejoin()
	return d
}

// rejoin starts another node that runs the tasks.
func (d *dials) rejoin() {
	d.Helper()
	id, err := d.store.Join(d.ctx(), fairlead.Node{Name: "node", Kinds: d.mux.Kinds(), Slots: 10}, lease)
	d.ok(err)
	d.node = id
}

// turn starts a batch that changes all dials.
func (d *dials) turn(changes ...func(*batch.Change)) batch.Batch {
	d.Helper()
	var tasks []batch.Change
	for i := range len(d.values) {
		task := batch.Change{Target: batch.Target{ID: fmt.Sprint(i), Type: d.kind}, After: json.RawMessage(dialAfter)}
		for _, change := range changes {
			change(&task)
		}
		tasks = append(tasks, task)
	}
	b, err := d.batches.Knowing(d.mux).Start(d.ctx(), batch.Batch{Name: "turn", Type: "turn"}, tasks...)
	d.ok(err)
	return d.look(b)
}

// look checks the batch until nothing is left to do.
func (d *dials) look(b batch.Batch) batch.Batch {
	d.Helper()
	for again := true; again; {
		done, err := batch.Conduct(d.ctx(), d.store, b.ID)
		d.ok(err)
		if again = done.Next == 0; done.Prepare {
			d.ok(batch.Prepare(d.ctx(), d.store, b.ID, done.Try))
			again = true
		}
	}
	found, err := d.batches.Get(d.ctx(), b.ID)
	d.ok(err)
	return found
}

// claimTasks claims up to n tasks.
func (d *dials) claimTasks(n int) []*fairlead.Job {
	d.Helper()
	return d.claimAs(driver.Claim{Node: d.node, Scope: everything(d.mux.Kinds()...), Max: n})
}

// work runs the handler of a claimed task, and returns its error.
func (d *dials) work(job *fairlead.Job) error {
	ctx := fairlead.ContextWithRun(d.ctx(), dialRun{d, job})
	return d.mux.Entry(job.Kind).Handler.Work(ctx, job)
}

// finish runs tasks until none are left.
func (d *dials) finish(b batch.Batch) batch.Batch {
	d.Helper()
	for {
		b = d.look(b)
		jobs := d.claimTasks(10)
		if len(jobs) == 0 {
			return b
		}
		for _, job := range jobs {
			if err := d.work(job); err != nil {
				failed := to(fairlead.Fail, job)
				failed.Reason, failed.Error = fairlead.ReasonFatal, err.Error()
				d.settle(failed)
			} else {
				d.settle(to(fairlead.Succeed, job))
			}
		}
	}
}

func (d *dials) acted(b batch.Batch, err error) batch.Batch {
	d.Helper()
	d.ok(err)
	return b
}

// rollBack rolls the batch back and runs its tasks.
func (d *dials) rollBack(b batch.Batch, request batch.RollBack) batch.Batch {
	d.Helper()
	return d.finish(d.acted(d.batches.RollBack(d.ctx(), b.ID, request)))
}

// taskStates returns the states of the tasks, in order.
func (d *dials) taskStates(b batch.Batch) []batch.TaskState {
	d.Helper()
	var states []batch.TaskState
	for _, task := range d.tasks(b) {
		states = append(states, task.State)
	}
	return states
}

func (d *dials) tasks(b batch.Batch) []batch.Task {
	d.Helper()
	tasks, err := d.batches.Tasks(d.ctx(), batch.TaskFilter{Batch: b.ID})
	d.ok(err)
	return tasks
}

// wantChanged checks that exactly the dials with these numbers are changed.
func (d *dials) wantChanged(want ...string) {
	d.Helper()
	var changed []string
	for id, value := range d.values {
		if value != dialBefore {
			changed = append(changed, id)
		}
	}
	slices.Sort(changed)
	d.equal("the changed dials", changed, want)
}

// dialRun saves the memo of a handler.
type dialRun struct {
	dials *dials
	job   *fairlead.Job
}

func (r dialRun) Save(ctx context.Context, save fairlead.Save) error {
	return r.dials.store.Save(ctx, save)
}
func (r dialRun) SetOutput(json.RawMessage)   {}
func (r dialRun) SetProgress(json.RawMessage) {}
func (r dialRun) Job() *fairlead.Job          { return r.job }
