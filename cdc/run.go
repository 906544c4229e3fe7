package cdc

import (
	"context"
	"encoding/json"
)

// startOperation resumes a connector and restarts its failed parts.
//
// The operation may be repeated: starting a connector that is already starting changes
// nothing, so an interrupted attempt continues by starting it again and waiting. Undoing it
// first compares everything with the snapshot.
func (h *Handler) startOperation() Operation { return h.stateOperation(BatchStart, stateRunning) }

// stopOperation stops a connector, or pauses it if the cluster is too old to stop one.
//
// The operation may be repeated for the same reason: an accepted stop stays in effect, and
// a second one changes nothing.
func (h *Handler) stopOperation() Operation { return h.stateOperation(BatchStop, stateStopped) }

// stateOperation brings connectors into a state. Without a snapshot, undoing it brings them
// into the opposite state.
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
