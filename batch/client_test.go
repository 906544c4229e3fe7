package batch_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

func TestABatchThatNoNodeCouldDoIsRefused(t *testing.T) {
	m := newMoving(t)
	if _, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "paint"}, boxes(1)...); !onlyField(err, "type") {
		t.Errorf("a type that no node handles: got %v", err)
	}
	dead, err := m.store.Join(t.Context(), fairlead.Node{Name: "painter", Kinds: []string{"box.paint"}, Slots: 1}, 1)
	m.ok(err)
	m.ok(m.store.Leave(t.Context(), dead))
	if _, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "paint"}, boxes(1)...); !onlyField(err, "type") {
		t.Errorf("a type that a dead node handled: got %v", err)
	}
	mux := fairlead.NewMux()
	batch.Handle(mux, batch.Operation{
		TargetType: "box", BatchType: "paint", Process: func(context.Context, batch.TaskArgs) error { return nil },
		Check: func(task batch.TaskArgs) error {
			if task.Target.ID == "box 1" {
				return fairlead.Invalid(fairlead.FieldError{Field: "after", Message: "is no colour"})
			}
			return nil
		},
	})
	batch.Handle(mux, batch.Operation{TargetType: "box", BatchType: "wash", Process: func(context.Context, batch.TaskArgs) error { return nil }})
	knowing := m.batches.Knowing(mux)
	if _, err := knowing.Start(t.Context(), batch.Batch{Name: "spring", Type: "paint"}, boxes(2)...); !onlyField(err, "tasks[1].after") {
		t.Errorf("a task that the operation refuses: got %v", err)
	}
	for _, kind := range []string{"paint", "wash"} {
		_, err := knowing.Start(t.Context(), batch.Batch{Name: "spring", Type: kind}, boxes(1)...)
		m.ok(err)
	}
	nameless := boxes(1)
	nameless[0].Target.Type = ""
	if _, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "move"}, nameless...); !onlyField(err, "tasks[0].target.type") {
		t.Errorf("a target without a type: got %v", err)
	}
}

func TestABatchIsOpenedOnce(t *testing.T) {
	m := newMoving(t)
	draft, err := m.batches.Begin(t.Context(), batch.Batch{Name: "spring", Type: "move"})
	m.ok(err)
	m.ok(draft.Add(t.Context(), boxes(3)...))
	opened := m.acted(draft.Open(t.Context()))
	m.succeed(m.start(1)...)
	m.look(opened.ID)
	again := m.acted(draft.Open(t.Context())) // the answer was lost
	m.equal("the tally", again.Tally.Success, 1)
	m.equal("its total", again.Total, 3)
}

func TestWhatABatchForbids(t *testing.T) {
	m := newMoving(t)
	approve := func(b batch.Batch) error { _, err := m.batches.Approve(t.Context(), b.ID); return err }
	canary := func(b *batch.Batch) { b.Canary.Tasks = 1 }
	done := m.create(1, canary)
	m.succeed(m.start(1)...)
	m.look(done.ID)
	m.conflicts("approving of a canary that is all of it and has ended", approve(done))
	cancelled := m.create(2, canary)
	m.acted(m.batches.Cancel(t.Context(), cancelled.ID, ""))
	m.conflicts("approving of a batch that is cancelled", approve(cancelled))
	_, err := m.batches.Cancel(t.Context(), cancelled.ID, "")
	m.conflicts("cancelling a batch that is cancelled", err)
	_, err = m.batches.Pause(t.Context(), cancelled.ID, "")
	m.conflicts("pausing a batch that is cancelled", err)
	_, err = m.batches.Resume(t.Context(), done.ID)
	m.conflicts("resuming a batch that has ended", err)
	paused := m.create(2, canary)
	m.acted(m.batches.Pause(t.Context(), paused.ID, "lunch"))
	_, err = m.batches.Pause(t.Context(), paused.ID, "dinner")
	m.conflicts("pausing a batch that is paused", err)
	m.equal("why it is paused", m.batch(paused.ID).Reason, "lunch")
	m.acted(m.batches.Approve(t.Context(), paused.ID))
	m.conflicts("approving of a canary twice", approve(paused))
	_, err = m.batches.Pause(t.Context(), done.ID, "")
	m.conflicts("pausing a batch that has ended", err)
	_, err = m.batches.SetPace(t.Context(), done.ID, batch.Pace{})
	m.conflicts("changing the pace of a batch that has ended", err)
	_, err = m.batches.Retry(t.Context(), done.ID)
	m.conflicts("retrying a batch of which nothing failed", err)
	if _, err := m.batches.Retry(t.Context(), done.ID, make([]int64, 10_001)...); !onlyField(err, "tasks") {
		t.Errorf("too many tasks at once: got %v", err)
	}
	for what, ask := range map[string]func() error{
		"a batch":           func() error { _, err := m.batches.Get(t.Context(), 1<<40); return err },
		"a task":            func() error { _, err := m.batches.Retry(t.Context(), done.ID, 1<<40); return err },
		"a pass of a batch": func() error { return batch.Prepare(t.Context(), m.store, 1<<40, 1) },
		"tasks of a batch":  func() error { _, err := m.batches.Tasks(t.Context(), batch.TaskFilter{Batch: 1 << 40}); return err },
	} {
		if err := ask(); !errors.Is(err, fairlead.ErrNotFound) {
			t.Errorf("%s that there is not: got %v", what, err)
		}
	}
	m.ok(batch.Prepare(t.Context(), m.store, done.ID, 9)) // it wants none
	m.equal("the tally", m.batch(done.ID).Tally, batch.Tally{Success: 1})
}

func TestWhatWouldBeRolledBackIsToldBefore(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	plan := func(r batch.RollBack, limit int) ([]int64, int) {
		t.Helper()
		tasks, total, err := m.batches.PlanRollBack(t.Context(), b.ID, r, limit)
		m.ok(err)
		for _, task := range tasks {
			if len(task.Before) == 0 || task.Batch != b.ID {
				t.Fatalf("a task is %+v", task)
			}
		}
		return taskIDs(tasks), total
	}
	jobs := m.start(4)
	for _, i := range []int{2, 0} {
		m.succeed(jobs[i])
		m.clock.Advance(1e9)
		m.look(b.ID)
	}
	m.fail(jobs[1])
	m.look(b.ID)
	for name, c := range map[string]struct {
		ask   batch.RollBack
		limit int
		want  []int64
		total int
	}{
		"what was done last is first": {batch.RollBack{}, 10, []int64{jobs[0].ID, jobs[2].ID}, 2},
		"a page":                      {batch.RollBack{}, 1, []int64{jobs[0].ID}, 2},
		"some":                        {batch.RollBack{Tasks: []int64{jobs[2].ID}}, 10, []int64{jobs[2].ID}, 1},
		"none are all":                {batch.RollBack{Tasks: []int64{}}, 10, []int64{jobs[0].ID, jobs[2].ID}, 2},
	} {
		if ids, total := plan(c.ask, c.limit); !slices.Equal(ids, c.want) || total != c.total {
			t.Errorf("%s: got %v of %d, want %v of %d", name, ids, total, c.want, c.total)
		}
	}
	if _, total := plan(batch.RollBack{Failed: true}, 10); total != 3 {
		t.Errorf("with what failed %d would be rolled back", total)
	}
	m.equal("nothing has changed", m.batch(b.ID).Undoing, false)
	_, _, err := m.batches.PlanRollBack(t.Context(), b.ID, batch.RollBack{Tasks: []int64{jobs[1].ID}}, 10)
	m.conflicts("rolling back a task that failed", err)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	_, _, err = m.batches.PlanRollBack(t.Context(), b.ID, batch.RollBack{}, 10)
	m.conflicts("rolling back what is rolled back", err)
}
