package cdc

import (
	"context"
	"fmt"
	"maps"
)

// move takes a connector to another cluster: it stops it, makes a copy there
// with its config and offsets, starts the copy, and deletes it where it was only
// when the copy is in the state that is wanted.
//
// It may be repeated after it was broken off anywhere:
//   - before the copy exists: the connector is stopped, and is stopped again;
//   - while the copy is marked as unfinished: its offsets may be missing, so they
//     are read from the stopped connector and set again;
//   - once the mark is gone: the offsets were set, and the copy may have read on, so
//     only starting it and deleting the other are left;
//   - when the connector is gone from where it was: everything was done before.
//
// A copy without the mark whose config is another was not made here: it is left
// alone, and nothing is deleted. Without a snapshot the connector keeps its own state until it
// is deleted, when the copy is in that state.
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
		return fmt.Errorf("%w; it is still on cluster %q, stopped: retry, or roll back so that it runs there", err, from.Name)
	}
	return from.remove(ctx, name)
}

// copyTo makes the copy, stopped and finished.
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

// checkCopy makes sure that a connector on the destination is the copy of the
// one at the origin, which an earlier try finished.
func (c *client) checkCopy(ctx context.Context, name string, from *client, origin, copied *connector) error {
	now, err := from.status(ctx, name)
	switch {
	case err != nil:
		return err
	case !maps.Equal(copied.Config, c.dress(origin.Config)):
		return fmt.Errorf("cluster %q already has another connector %q, with another config; remove it there or rename one", c.Name, name)
	case now.purpose() == stateRunning:
		return fmt.Errorf("connector %q is on cluster %q and also runs on %q; remove the one that is not needed", name, c.Name, from.Name)
	}
	return nil
}
