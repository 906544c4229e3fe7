package cdc

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// stateProperty stores the state that a connector is to return to, if the caller has
// provided no snapshot. The value names the batch; values of other batches are out of date.
const stateProperty = "fairlead.state"

// kept returns the state that a connector is to return to, or an empty string if none is
// stored for the batch of the task.
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

// keeping returns a config that stores the state that the connector is to return to.
func keeping(config map[string]string, task Task, state string) map[string]string {
	with := maps.Clone(config)
	with[stateProperty] = state + " " + batchOf(task)
	return with
}

func batchOf(task Task) string { return fmt.Sprintf("batch %d", task.BatchID) }

// keepState returns the state that a connector is to return to after it was stopped: that
// of the snapshot, or otherwise its current state, which it then stores in the config.
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

// stateNow returns the target state of a connector after an operation that does not change
// it: that of the snapshot, or otherwise its current state. A failed connector is to run.
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

// forgetState removes the stored state from a connector that has returned to it, or was set
// to another state.
func (c *client) forgetState(ctx context.Context, name string) error {
	found, err := c.find(ctx, name)
	if err != nil || found == nil || found.Config[stateProperty] == "" {
		return err
	}
	return c.putConfig(ctx, name, unmarked(found.Config))
}
