package cdc

import (
	"context"
	"fmt"
	"maps"
)

// Snapshot is a connector as it was before an operation.
type Snapshot struct {
	Cluster  string            `json:"cluster"`
	Name     string            `json:"name"`
	State    string            `json:"state"` // RUNNING, PAUSED, STOPPED, FAILED or ABSENT
	Config   map[string]string `json:"config,omitempty"`
	Withheld []string          `json:"withheld,omitempty"` // properties that look secret; their values are not kept
	Offsets  []Offset          `json:"offsets"`            // null if the cluster cannot tell
}

// snapshot reads what a connector is now. It waits while its state is about to
// change without our doing, as in a rebalance.
func (c *client) snapshot(ctx context.Context, name string, found *connector) (*Snapshot, error) {
	s := &Snapshot{Cluster: c.Name, Name: name}
	s.Config, s.Withheld = withhold(unmarked(found.Config))
	var err error
	if s.State, err = c.settled(ctx, name); err != nil {
		return nil, err
	}
	s.Offsets, err = c.offsets(ctx, name)
	return s, err
}

// settled waits until a connector has a state that it is meant to be in, and returns that.
func (c *client) settled(ctx context.Context, name string) (string, error) {
	pause := c.pace.begin()
	for {
		now, err := c.status(ctx, name)
		if err != nil {
			return "", err
		}
		if state := now.purpose(); state != stateBetween {
			return state, nil
		}
		if late := pause.wait(ctx); late != nil {
			return "", fmt.Errorf("connector %q on cluster %q has not reached a stable state: %w", name, c.Name, late)
		}
	}
}

// place makes a connector on this cluster what is wanted, or makes it: offsets
// first (nil leaves them), then its config without the mark of what is
// unfinished. It may be broken off anywhere: until the mark is gone, the next try
// begins with the offsets again.
func (c *client) place(ctx context.Context, name string, existing *connector, config map[string]string, offsets []Offset) error {
	if existing == nil {
		if err := c.create(ctx, name, config); err != nil {
			return err
		}
		existing = &connector{Config: marked(config, arriving)}
	}
	if offsets != nil {
		now, err := c.needOffsets(ctx, name)
		if err != nil {
			return err
		}
		if len(offsetChanges(now, offsets)) > 0 || existing.unfinished() {
			if err := c.stop(ctx, name); err != nil {
				return err
			}
			if err := c.setOffsets(ctx, name, offsets); err != nil {
				return err
			}
		}
	}
	if maps.Equal(existing.Config, config) {
		return nil
	}
	return c.putConfig(ctx, name, config)
}

// restore puts a connector back to a snapshot that it has not moved from: its
// offsets and config if they differ, and its state in any case.
func (h *Handler) restore(ctx context.Context, c *client, s *Snapshot, offsets []Offset) error {
	found, err := c.mustFind(ctx, s.Name)
	if err != nil {
		return err
	}
	config, err := s.complete(found.Config)
	if err != nil {
		return err
	}
	if err := c.place(ctx, s.Name, found, config, offsets); err != nil {
		return err
	}
	return c.reach(ctx, s.Name, s.State)
}

// undoOffsets are the offsets to go back to after an operation that did not set
// them itself.
func (h *Handler) undoOffsets(s *Snapshot) []Offset {
	if h.config.KeepProgress {
		return nil
	}
	return s.Offsets
}

// restored reports whether a connector is as in a snapshot. Only a connector
// that runs is known to be what was asked last; of any other the status may be
// old, so it is asked again.
func (c *client) restored(ctx context.Context, s *Snapshot, offsets []Offset) (bool, error) {
	if s.State != stateRunning {
		return false, nil
	}
	found, err := c.find(ctx, s.Name)
	if err != nil || found == nil {
		return false, err
	}
	config, err := s.complete(found.Config)
	if err != nil || !maps.Equal(found.Config, config) {
		return false, err
	}
	if offsets != nil {
		now, err := c.offsets(ctx, s.Name)
		if err != nil || now == nil || len(offsetChanges(now, offsets)) > 0 {
			return false, err
		}
	}
	return c.runs(ctx, s.Name, found)
}
