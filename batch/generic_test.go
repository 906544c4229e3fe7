package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// joinWith makes a node join that handles some kinds.
func (m *moving) joinWith(kinds ...string) {
	m.Helper()
	_, err := m.store.Join(m.outer.Context(), fairlead.Node{Name: "other", Kinds: kinds, Slots: 9}, 1000*time.Hour)
	m.ok(err)
}

// kinds are those of the jobs that were made of tasks.
func (m *moving) kinds() (kinds []string) {
	m.Helper()
	page, err := m.client.Find(m.outer.Context(), fairlead.Filter{})
	m.ok(err)
	for _, job := range page.Jobs {
		kinds = append(kinds, job.Kind)
	}
	return kinds
}

// Source 000, 8. extension: a handler is registered for a target type, and finds out by
// the batch type what to do.
func TestAHandlerForAllTypesOfBatchesDoesThoseWithoutTheirOwn(t *testing.T) {
	m := newMoving(t)
	m.joinWith("box.*", "crate.*")
	m.create(1)
	m.equal("the kind where the type has its own", m.kinds(), []string{moveKind})
	washing := m.create(1, func(b *batch.Batch) { b.Type = "wash" })
	m.equal("the kinds with one that has not", m.kinds(), []string{"box.*", moveKind})

	// What was settled at first counts in every pass, also if a node joins later.
	m.joinWith("box.wash")
	claimed, err := m.store.Claim(t.Context(), driver.Claim{Node: m.node, Scope: &driver.Scope{Kinds: []string{"box.*"}}, Max: 9})
	m.ok(err)
	m.equal("what it is told", taskOf(claimed[0]).Type, "wash")
	m.fail(claimed...)
	m.look(washing.ID)
	m.acted(m.batches.Retry(t.Context(), washing.ID))
	m.look(washing.ID)
	retried, err := m.store.Claim(t.Context(), driver.Claim{Node: m.node, Scope: &driver.Scope{Kinds: []string{"box.*"}}, Max: 9})
	m.ok(err)
	m.equal("how many are retried", len(retried), 1)
	m.equal("the status of one that is retried", taskOf(retried[0]).Status, batch.TaskRetryPending)
	m.succeed(retried...)
	m.look(washing.ID)
	m.acted(m.batches.RollBack(t.Context(), washing.ID, batch.RollBack{}))
	m.look(washing.ID)
	undone, err := m.store.Claim(t.Context(), driver.Claim{Node: m.node, Scope: &driver.Scope{Kinds: []string{"box.*"}}, Max: 9})
	m.ok(err)
	m.equal("how many are undone", len(undone), 1)
	m.equal("the status of one that is undone", taskOf(undone[0]).Status, batch.TaskRollbackPending)
	m.equal("the kind of a batch that is made now", func() string { m.create(1, func(b *batch.Batch) { b.Type = "wash" }); return m.kinds()[0] }(), "box.wash")
}

func TestAHandlerForAllTypesOfBatchesIsForItsTypeOfTargetAlone(t *testing.T) {
	m := newMoving(t)
	m.joinWith("crate.*")
	_, err := m.batches.Start(t.Context(), batch.Batch{Name: "n", Type: "wash"}, boxes(1)...)
	if !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), "tasks[0].target.type") {
		t.Errorf("got %v", err)
	}
	_, err = m.batches.Start(t.Context(), batch.Batch{Name: "n", Type: batch.AnyType}, boxes(1)...)
	if !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), "stands for all types") {
		t.Errorf("got %v", err)
	}
}

func TestAHandlerForAllTypesOfBatchesChecksAndTimesThemByTheirType(t *testing.T) {
	m := newMoving(t)
	mux := fairlead.NewMux()
	batch.Handle(mux, batch.Operation{
		TargetType: "box", BatchType: batch.AnyType, Timeout: time.Minute, Timeouts: map[string]time.Duration{"wash": time.Hour},
		Check: func(task batch.TaskArgs) error {
			if task.Type == "burn" {
				return fairlead.Invalid(fairlead.FieldError{Field: "after", Message: "must not burn"})
			}
			return nil
		},
		Process: func(context.Context, batch.TaskArgs) error { return nil },
	})
	knowing := m.batches.Knowing(mux)
	if _, err := knowing.Start(t.Context(), batch.Batch{Name: "n", Type: "burn"}, boxes(1)...); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), "must not burn") {
		t.Errorf("got %v", err)
	}
	_, err := knowing.Start(t.Context(), batch.Batch{Name: "n", Type: "wash"}, boxes(1)...)
	m.ok(err)
	timeout := mux.Entry("box.*").Options.TimeoutOf
	for _, c := range []struct {
		kind string
		own  time.Duration
		want time.Duration
	}{{"wash", 0, time.Hour}, {"fold", 0, 0}, {"wash", time.Second, 0}} {
		args, err := json.Marshal(batch.TaskArgs{Type: c.kind})
		m.ok(err)
		if got := timeout(&fairlead.Job{Args: args, Timeout: c.own}); got != c.want {
			t.Errorf("an attempt of %s may take %v", c.kind, got)
		}
	}
}

func TestATaskSaysWhatItsBatchIs(t *testing.T) {
	m := newMoving(t)
	b := m.create(1, func(b *batch.Batch) { b.Creator, b.Env = "ada", "live" })
	task := m.tasks(batch.TaskFilter{Batch: b.ID})[0]
	m.equal("its batch", []string{task.BatchType, task.Creator, task.Env, task.Region}, []string{"move", "ada", "live", fairlead.DefaultQueue})
}

func TestBatchesAreListedByHowTheyStand(t *testing.T) {
	m := newMoving(t)
	done, running, pending := m.create(1), m.create(2), m.create(1)
	other := m.create(1, func(b *batch.Batch) { b.Creator, b.Env = "ada", "test" })
	m.succeed(m.start(1)...)
	m.look(done.ID)
	m.start(1) // of the second, which no node has looked at since
	for _, c := range []struct {
		filter batch.Filter
		want   []int64
	}{
		{batch.Filter{States: []batch.State{batch.Success}}, []int64{done.ID}},
		{batch.Filter{States: []batch.State{batch.Running}}, []int64{running.ID}},
		{batch.Filter{States: []batch.State{batch.Pending}}, []int64{other.ID, pending.ID}},
		{batch.Filter{States: []batch.State{batch.Pending}, Limit: 1}, []int64{other.ID}},
		{batch.Filter{States: []batch.State{batch.Running}, Limit: 1}, []int64{running.ID}},
		{batch.Filter{States: []batch.State{batch.Success, batch.Running}}, []int64{running.ID, done.ID}},
		{batch.Filter{Creators: []string{"ada"}}, []int64{other.ID}},
		{batch.Filter{Envs: []string{"test", "live"}, States: []batch.State{batch.Fail}}, nil},
	} {
		found, err := m.batches.List(t.Context(), c.filter)
		m.ok(err)
		var ids []int64
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		m.equal("what is found", ids, c.want)
	}
}
