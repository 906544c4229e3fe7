package cdc

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// A connector keeps the state to which it is to return in this property, while nothing else does:
// the caller gave no snapshot. It names the batch: what another batch left behind is out of date.
const stateProperty = "fairlead.state"

// kept is the state to which a connector is to return, empty if it keeps none for the batch of
// the task.
func (c *connector) kept(task Task) string {
	if c == nil {
		return ""
	}
	state, of, _ := strings.Cut(c.Config[stateProperty], " ")
	if of != batchOf(task) {
		return ""
	}
	return state
}

// keeping is a config with the state to which its connector is to return.
func keeping(config map[string]string, task Task, state string) map[string]string {
	with := maps.Clone(config)
	with[stateProperty] = state + " " + batchOf(task)
	return with
}

func batchOf(task Task) string { return fmt.Sprintf("batch %d", task.BatchID) }

// keepState returns the state to which a connector is to return after it was stopped: that of
// the snapshot, or else the one that it is in, which it then keeps.
func (c *client) keepState(ctx context.Context, task Task, found *connector, s *Snapshot) (string, error) {
	if state := found.kept(task); state != "" && s == nil {
		return state, nil
	}
	state, err := c.stateNow(ctx, task.connector(), s)
	if err != nil || s != nil {
		return state, err
	}
	return state, c.putConfig(ctx, task.connector(), keeping(found.Config, task, state))
}

// stateNow is the state that a connector is to be in after an operation that does not change
// it: that of the snapshot, or else the one that it is in. One that has failed is to run.
func (c *client) stateNow(ctx context.Context, name string, s *Snapshot) (state string, err error) {
	if s != nil {
		state = s.State
	} else if state, err = c.settled(ctx, name); err != nil {
		return "", err
	}
	if state == stateFailed || state == stateAbsent {
		return stateRunning, nil
	}
	return state, nil
}

// forgetState removes the state that a connector keeps: it has returned to it, or was told to be
// in another.
func (c *client) forgetState(ctx context.Context, name string) error {
	found, err := c.find(ctx, name)
	if err != nil || found == nil || found.Config[stateProperty] == "" {
		return err
	}
	return c.putConfig(ctx, name, unmarked(found.Config))
}
