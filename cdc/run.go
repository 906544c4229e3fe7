package cdc

import (
	"context"
	"encoding/json"
)

// startOperation resumes a connector and restarts what of it has failed.
//
// It may be repeated: asking a connector to run that is to run already changes
// nothing, so a try that was broken off after asking is continued by asking again
// and waiting. Undoing it compares everything with the snapshot first.
func (h *Handler) startOperation() Operation { return h.stateOperation(BatchStart, stateRunning) }

// stopOperation stops a connector, or pauses it where the cluster is too old to
// stop one.
//
// It may be repeated for the same reason: a stop that was accepted stays
// accepted, and a second one changes nothing.
func (h *Handler) stopOperation() Operation { return h.stateOperation(BatchStop, stateStopped) }

// stateOperation brings connectors into a state. Without a snapshot it is undone
// by the opposite.
func (h *Handler) stateOperation(batchType, state string) Operation {
	opposite := map[string]string{stateRunning: stateStopped, stateStopped: stateRunning}[state]
	return Operation{
		TargetType: TargetCDC, BatchType: batchType, Timeout: defaultTimeout,
		BuildParam: func(ctx context.Context, task Task, _ json.RawMessage) (json.RawMessage, error) {
			return h.buildSnapshot(ctx, task, nil)
		},
		AlreadyDone: func(ctx context.Context, task Task, want json.RawMessage) (bool, error) {
			if task.Undo {
				was, err := readParam("before", want)
				if err != nil {
					return false, err
				}
				return h.undone(ctx, task, was, h.undoOffsets)
			}
			c, found, err := h.locate(ctx, task)
			if err != nil {
				return false, err
			}
			if state == stateRunning {
				return c.runs(ctx, task.connector(), found)
			}
			now, err := c.status(ctx, task.connector())
			return len(found.Tasks) == 0 && now.state() == stateStopped, err
		},
		Process: func(ctx context.Context, task Task, before, _ json.RawMessage) error {
			was, err := readParam("before", before)
			if err != nil {
				return err
			}
			c, _, err := h.target(ctx, task, was)
			if err != nil {
				return err
			}
			if err := c.reach(ctx, task.connector(), state); err != nil {
				return err
			}
			return c.forgetState(ctx, task.connector())
		},
		Undo: func(ctx context.Context, task Task, before, _ json.RawMessage) error {
			was, err := readParam("before", before)
			if err != nil {
				return err
			}
			return h.undoInPlace(ctx, task, was, func(c *client) error { return c.reach(ctx, task.connector(), opposite) })
		},
		Check: func(task Task, before, after json.RawMessage) error { return h.check(task, before, after, nil) },
	}
}
