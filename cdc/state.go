package cdc

import (
	"context"
	"fmt"
	"net/http"
)

// States of a connector and its tasks. All but the last two are those of Kafka Connect:
// stateAbsent means that the connector does not exist, stateBetween that it is changing.
const (
	stateRunning = "RUNNING"
	statePaused  = "PAUSED"
	stateStopped = "STOPPED"
	stateFailed  = "FAILED"
	stateAbsent  = "ABSENT"
	stateBetween = "CHANGING"
)

// status is the status of a connector as reported by the workers.
type status struct {
	Connector struct {
		State string `json:"state"`
		Trace string `json:"trace"`
	} `json:"connector"`
	Tasks []struct {
		ID    int    `json:"id"`
		State string `json:"state"`
		Trace string `json:"trace"`
	} `json:"tasks"`
}

// status requests the status. A connector that was just created has none yet.
func (c *client) status(ctx context.Context, name string) (status, error) {
	var s status
	err := c.call(ctx, http.MethodGet, pathOf(name, "status"), nil, &s)
	if answered(err, http.StatusNotFound) {
		return status{}, nil
	}
	return s, err
}

// state combines the states of a connector and its tasks. A running connector has at least
// one task, and all of its tasks run; a stopped one has no task. Tasks of a paused
// connector may have failed before.
func (s status) state() string {
	want := s.Connector.State
	if failed, _ := s.failure(); failed && want != statePaused {
		return stateFailed
	}
	for _, task := range s.Tasks {
		if want == stateStopped || task.State != want && task.State != stateFailed {
			return stateBetween
		}
	}
	switch {
	case want == stateRunning && len(s.Tasks) == 0:
		return stateBetween
	case want == stateRunning || want == statePaused || want == stateStopped:
		return want
	}
	return stateBetween
}

// failure returns the trace of a failed connector or task, if any.
func (s status) failure() (failed bool, trace string) {
	if s.Connector.State == stateFailed {
		return true, s.Connector.Trace
	}
	for _, task := range s.Tasks {
		if task.State == stateFailed {
			return true, fmt.Sprintf("task %d: %s", task.ID, task.Trace)
		}
	}
	return false, ""
}

// purpose returns the intended state of a connector, regardless of the current state of its
// tasks.
func (s status) purpose() string {
	if s.Connector.State == statePaused || s.Connector.State == stateStopped {
		return s.Connector.State
	}
	if failed, _ := s.failure(); failed {
		return stateFailed
	}
	if s.Connector.State == stateRunning {
		return stateRunning
	}
	return stateBetween
}

// reach requests a state and waits until the cluster reports it. It makes the request even
// if the status already shows the state, because a status lags behind the latest request.
func (c *client) reach(ctx context.Context, name, want string) error {
	switch want {
	case stateStopped:
		return c.stop(ctx, name)
	case statePaused:
		if err := c.call(ctx, http.MethodPut, pathOf(name, "pause"), nil, nil); err != nil {
			return err
		}
		return c.await(ctx, name, statePaused)
	case stateFailed: // it was supposed to run, but could not
		if err := c.call(ctx, http.MethodPut, pathOf(name, "resume"), nil, nil); err != nil {
			return err
		}
		return c.await(ctx, name, stateRunning, stateFailed)
	}
	if err := c.call(ctx, http.MethodPut, pathOf(name, "resume"), nil, nil); err != nil {
		return err
	}
	return c.awaitRunning(ctx, name)
}

// stop stops a connector. Clusters older than 3.5 cannot; there it pauses the connector.
func (c *client) stop(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodPut, pathOf(name, "stop"), nil, nil)
	if answered(err, http.StatusNotFound) || answered(err, http.StatusMethodNotAllowed) {
		if found, lost := c.find(ctx, name); lost != nil {
			return lost
		} else if found == nil {
			return err
		}
		return c.reach(ctx, name, statePaused)
	}
	if err != nil {
		return err
	}
	return c.await(ctx, name, stateStopped)
}

// await waits until a connector is in one of the given states.
func (c *client) await(ctx context.Context, name string, wanted ...string) error {
	pause := c.pace.begin()
	for {
		now, err := c.status(ctx, name)
		if err != nil {
			return err
		}
		state := now.state()
		for _, want := range wanted {
			if state == want {
				return nil
			}
		}
		if late := pause.wait(ctx); late != nil {
			return fmt.Errorf("connector %q on cluster %q is %s, not yet %s: %w", name, c.Name, state, wanted[0], late)
		}
	}
}

// patience is the number of times a connector may be seen as failed after a restart,
// because the status may still be the old one.
const patience = 5

// awaitRunning waits until a connector and its tasks run. It restarts failed ones once,
// because they would not run again otherwise.
func (c *client) awaitRunning(ctx context.Context, name string) error {
	pause := c.pace.begin()
	restarted, seen := false, 0
	for {
		now, err := c.status(ctx, name)
		if err != nil {
			return err
		}
		switch state := now.state(); {
		case state == stateRunning:
			return nil
		case state != stateFailed:
			seen = 0
		case !restarted:
			restarted = true
			if err := c.call(ctx, http.MethodPost, pathOf(name, "restart")+"?includeTasks=true&onlyFailed=true", nil, nil); err != nil {
				return err
			}
		default:
			if seen++; seen >= patience {
				return c.whyFailed(ctx, name, now)
			}
		}
		if late := pause.wait(ctx); late != nil {
			return fmt.Errorf("connector %q on cluster %q is %s, not yet %s: %w", name, c.Name, now.state(), stateRunning, late)
		}
	}
}

// whyFailed returns the error of a failed connector, without its secrets.
func (c *client) whyFailed(ctx context.Context, name string, now status) error {
	_, trace := now.failure()
	found, err := c.find(ctx, name)
	if err != nil || found == nil {
		return fmt.Errorf("connector %q on cluster %q has failed; see its status there", name, c.Name)
	}
	return fmt.Errorf("connector %q on cluster %q has failed: %s", name, c.Name, brief(scrub(trace, found.Config)))
}

// runs reports whether a connector runs without a requested stop. The tasks of a connector
// disappear from the cluster's records as soon as a stop is accepted, while the status
// still shows it running.
func (c *client) runs(ctx context.Context, name string, found *connector) (bool, error) {
	if len(found.Tasks) == 0 {
		return false, nil
	}
	now, err := c.status(ctx, name)
	return now.state() == stateRunning, err
}
