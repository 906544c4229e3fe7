package cdc

import (
	"context"
	"fmt"
	"maps"
)

// move moves a connector to another cluster: it stops the connector, creates a copy with
// its config and offsets on the other cluster, starts the copy, and deletes the original
// only when the copy has reached the target state.
//
// The operation may be repeated after an interruption at any point:
//   - Before the copy exists: the connector is stopped, and is stopped again.
//   - While the copy is marked as unfinished: its offsets may be missing, so they are read
//     from the stopped connector and set again.
//   - Once the mark is gone: the offsets were set, and the copy may have continued reading,
//     so only starting it and deleting the original are left.
//   - When the original is gone: everything was done before.
//
// A copy without the mark and with another config was not created by this operation: it is
// left alone, and nothing is deleted. Without a snapshot the original stores its own state
// until it is deleted, when the copy is in that state.
func move(ctx context.Context, task Task, from, to *client, s *Snapshot) error {
	name := task.connector()
	origin, err := from.find(ctx, name)
	if err != nil {
		return err
	}
	copied, err := to.find(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case origin == nil && copied == nil:
		return fmt.Errorf("connector %q is no longer on cluster %q or %q; another program deleted it", name, from.Name, to.Name)
	case origin == nil && copied.unfinished():
		return fmt.Errorf("connector %q was deleted on cluster %q by another program before its copy on %q was finished; roll back to recreate it", name, from.Name, to.Name)
	case origin == nil:
		state, err := to.stateNow(ctx, name, s)
		if err != nil {
			return err
		}
		return to.reach(ctx, name, state)
	}
	half := copied == nil || copied.unfinished()
	if half {
		_, err = from.needOffsets(ctx, name)
	} else {
		err = to.checkCopy(ctx, name, from, origin, copied)
	}
	if err != nil {
		return err
	}
	state, err := from.keepState(ctx, task, origin, s)
	if err != nil {
		return err
	}
	if half {
		if err := copyTo(ctx, name, from, to, origin, copied); err != nil {
			return err
		}
	}
	if err := to.reach(ctx, name, state); err != nil {
		return fmt.Errorf("%w; the connector is stopped on cluster %q: retry, or roll back to restart it there", err, from.Name)
	}
	return from.remove(ctx, name)
}

// copyTo creates the copy, stopped and finished.
func copyTo(ctx context.Context, name string, from, to *client, origin, copied *connector) error {
	if err := from.stop(ctx, name); err != nil {
		return err
	}
	offsets, err := from.needOffsets(ctx, name)
	if err != nil {
		return err
	}
	return to.place(ctx, name, copied, to.dress(origin.Config), offsets)
}

// checkCopy verifies that a connector on the destination is a copy of the original,
// finished by an earlier attempt.
func (c *client) checkCopy(ctx context.Context, name string, from *client, origin, copied *connector) error {
	now, err := from.status(ctx, name)
	switch {
	case err != nil:
		return err
	case !maps.Equal(copied.Config, c.dress(origin.Config)):
		return fmt.Errorf("cluster %q already has a connector %q with a different configuration; remove it or rename one of them", c.Name, name)
	case now.purpose() == stateRunning:
		return fmt.Errorf("connector %q is on cluster %q and also runs on %q; remove the one that is not needed", name, c.Name, from.Name)
	}
	return nil
}
