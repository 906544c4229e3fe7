package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// shifting is an operation on boxes whose steps can be made to fail, and a node that
// runs it step by step.
type shifting struct {
	*moving
	*engine.Stepper
	building, applying error
	nothing            bool    // what was there before is nothing
	undone             []int64 // tasks that were put back
}

func newShifting(t *testing.T, remembers bool) *shifting {
	s := &shifting{moving: newMoving(t)}
	mux := fairlead.NewMux()
	op := batch.Operation{
		TargetType: "box", BatchType: "move",
		Process: func(context.Context, batch.TaskArgs) error { return s.applying },
		Undo: func(_ context.Context, task batch.TaskArgs) error {
			s.undone = append(s.undone, task.Task)
			return nil
		},
	}
	if remembers {
		op.BuildParam = func(context.Context, batch.TaskArgs) (json.RawMessage, error) {
			if s.building != nil || s.nothing {
				return nil, s.building
			}
			return json.RawMessage(`{"at":"here"}`), nil
		}
	}
	batch.Handle(mux, op)
	stepper, err := engine.NewStepper(t.Context(), s.store, mux)
	s.ok(err)
	s.Stepper = stepper
	return s
}

// shift makes a batch of one box of which is not known where it was.
func (s *shifting) shift() batch.Batch {
	s.Helper()
	change := boxes(1)[0]
	change.Before = nil
	b, err := s.batches.Start(s.outer.Context(), batch.Batch{Name: "spring", Type: "move"}, change)
	s.ok(err)
	return b
}

// step runs the next job, and looks at the batch.
func (s *shifting) step(b batch.Batch) *fairlead.Job {
	s.Helper()
	job, err := s.Step(s.outer.Context())
	s.ok(err)
	if job == nil {
		s.Fatalf("there is nothing to run")
	}
	s.look(b.ID)
	return job
}

// rollBack rolls back all that failed, too, and returns how the one task stands then.
func (s *shifting) rollBack(b batch.Batch) batch.Task {
	s.Helper()
	s.acted(s.batches.RollBack(s.outer.Context(), b.ID, batch.RollBack{Failed: true}))
	s.look(b.ID)
	s.step(b)
	return s.tasks(batch.TaskFilter{Batch: b.ID})[0]
}

func (s *shifting) wantUnknown(task batch.Task) {
	s.Helper()
	if task.State != batch.TaskRollbackFail || !strings.Contains(task.Info, "neither the batch nor the operation provided the previous value") {
		s.Fatalf("it is %s: %s", task.State, task.Info)
	}
}

var errShift = errors.New("it is stuck")

func TestATaskThatWasNeverAppliedHasNothingToUndo(t *testing.T) {
	s := newShifting(t, true)
	s.building = errShift
	b := s.shift()
	s.step(b)
	s.equal("how it stands", s.rollBack(b).State, batch.TaskRollbackSuccess)
	s.equal("what was put back", s.undone, []int64(nil))
}

func TestATaskThatWasNeverAppliedInAnyPassHasNothingToUndo(t *testing.T) {
	s := newShifting(t, true)
	s.building = errShift
	b := s.shift()
	s.step(b)
	s.acted(s.batches.Retry(t.Context(), b.ID))
	s.look(b.ID)
	s.step(b)
	s.equal("how it stands", s.rollBack(b).State, batch.TaskRollbackSuccess)
	s.equal("what was put back", s.undone, []int64(nil))
}

func TestATaskThatMayHaveBeenAppliedIsUndone(t *testing.T) {
	s := newShifting(t, true)
	s.applying = errShift
	b := s.shift()
	task := s.step(b)
	s.equal("how it stands", s.rollBack(b).State, batch.TaskRollbackSuccess)
	s.equal("what was put back", s.undone, []int64{task.ID})
}

func TestNothingIsPutBackIfItIsNotKnownWhat(t *testing.T) {
	t.Run("the operation remembers nothing", func(t *testing.T) {
		s := newShifting(t, false)
		s.applying = errShift
		b := s.shift()
		s.step(b)
		s.wantUnknown(s.rollBack(b))
	})
	t.Run("there was nothing", func(t *testing.T) {
		s := newShifting(t, true)
		s.applying, s.nothing = errShift, true
		b := s.shift()
		s.step(b)
		s.wantUnknown(s.rollBack(b))
	})
	t.Run("there was nothing in the first pass, and the second was never applied", func(t *testing.T) {
		s := newShifting(t, true)
		s.applying, s.nothing = errShift, true
		b := s.shift()
		s.step(b)
		s.acted(s.batches.Retry(t.Context(), b.ID))
		s.look(b.ID)
		s.building = errShift
		s.step(b)
		s.wantUnknown(s.rollBack(b))
	})
	t.Run("its job is missing", func(t *testing.T) {
		s := newShifting(t, true)
		b := s.shift()
		jobs := s.start(1)
		testdb.Lose(t, s.store, jobs[0].ID)
		s.clock.Advance(soughtAfter)
		s.look(b.ID)
		s.wantUnknown(s.rollBack(b))
	})
}
