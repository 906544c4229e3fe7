package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// handled runs a job of a task through an operation, and says what was called.
func handled(t *testing.T, op batch.Operation, task batch.TaskArgs) (calls []string, err error) {
	t.Helper()
	note := func(name string, err error) func(context.Context, batch.TaskArgs) error {
		return func(_ context.Context, task batch.TaskArgs) error {
			calls = append(calls, fmt.Sprintf("%s %s to %s", name, task.Before, task.After))
			return err
		}
	}
	failing := func(do func(context.Context, batch.TaskArgs) error) error {
		if do == nil {
			return nil
		}
		return do(t.Context(), batch.TaskArgs{})
	}
	op.TargetType, op.BatchType = "box", "move"
	op.Process = note("process", failing(op.Process))
	if op.Undo != nil {
		op.Undo = note("undo", failing(op.Undo))
	}
	mux := fairlead.NewMux()
	batch.Handle(mux, op)
	args, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	entry := mux.Entry(moveKind)
	err = entry.Handler.Work(t.Context(), &fairlead.Job{ID: 7, Kind: moveKind, Args: args})
	return calls, err
}

func TestAnOperationIsCalledAsItsTaskAsks(t *testing.T) {
	is := func(done bool, err error) func(context.Context, batch.TaskArgs) (bool, error) {
		return func(context.Context, batch.TaskArgs) (bool, error) { return done, err }
	}
	returns := func(err error) func(context.Context, batch.TaskArgs) error {
		return func(context.Context, batch.TaskArgs) error { return err }
	}
	forward := batch.TaskArgs{Change: batch.Change{Before: []byte(`1`), After: []byte(`2`)}}
	back := forward
	back.Undo = true
	stuck := errors.New("it is stuck")
	for name, c := range map[string]struct {
		op    batch.Operation
		task  batch.TaskArgs
		calls []string
		err   error
		fatal bool
	}{
		"forward":                                            {batch.Operation{}, forward, []string{"process 1 to 2"}, nil, false},
		"back, by its own way":                               {batch.Operation{Undo: returns(nil)}, back, []string{"undo 1 to 2"}, nil, false},
		"back, by the way forward":                           {batch.Operation{}, back, []string{"process 2 to 1"}, nil, false},
		"the target is as it should be":                      {batch.Operation{AlreadyDone: is(true, nil)}, forward, nil, nil, false},
		"the target is not":                                  {batch.Operation{AlreadyDone: is(false, nil)}, forward, []string{"process 1 to 2"}, nil, false},
		"how the target is is not known":                     {batch.Operation{AlreadyDone: is(false, stuck)}, forward, nil, stuck, true},
		"an error is final":                                  {batch.Operation{Process: returns(stuck)}, forward, []string{"process 1 to 2"}, stuck, true},
		"a store that is away is no fault":                   {batch.Operation{Process: returns(fairlead.ErrUnavailable)}, forward, []string{"process 1 to 2"}, fairlead.ErrUnavailable, false},
		"a process that has no descriptors left is no fault": {batch.Operation{Process: returns(syscall.EMFILE)}, forward, []string{"process 1 to 2"}, syscall.EMFILE, false},
		"a lease that is lost is no fault":                   {batch.Operation{Process: returns(fairlead.ErrLeaseLost)}, forward, []string{"process 1 to 2"}, fairlead.ErrLeaseLost, false},
		"a call that timed out is tried again":               {batch.Operation{Process: returns(fmt.Errorf("call: %w", context.DeadlineExceeded))}, forward, []string{"process 1 to 2"}, context.DeadlineExceeded, false},
		"a look that timed out is repeated":                  {batch.Operation{AlreadyDone: is(false, os.ErrDeadlineExceeded)}, forward, nil, os.ErrDeadlineExceeded, false},
	} {
		calls, err := handled(t, c.op, c.task)
		if !slices.Equal(calls, c.calls) || !errors.Is(err, c.err) {
			t.Errorf("%s: called %q, got %v; want %q, %v", name, calls, err, c.calls, c.err)
		}
		var outcome *fairlead.Outcome
		if fatal := errors.As(err, &outcome) && outcome.Settlement().Move == fairlead.Fail; fatal != c.fatal {
			t.Errorf("%s: it is final: %v (%v)", name, fatal, err)
		}
	}
	calls, err := handled(t, batch.Operation{Process: returns(fairlead.SnoozeFor(1))}, forward)
	var outcome *fairlead.Outcome
	if !errors.As(err, &outcome) || outcome.Settlement().Move != fairlead.Snooze {
		t.Errorf("what the operation chose itself became %v after %q", err, calls)
	}
}

func TestAnOperationNeedsProcess(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("one without it was registered")
		}
	}()
	batch.Handle(fairlead.NewMux(), batch.Operation{TargetType: "box", BatchType: "move"})
}
