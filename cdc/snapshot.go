package cdc

import (
	"context"
	"fmt"
	"maps"
)

// A Snapshot is a connector's state before an operation.
type Snapshot struct {
	Cluster  string            `json:"cluster"`
	Name     string            `json:"name"`
	State    string            `json:"state"` // RUNNING, PAUSED, STOPPED, FAILED or ABSENT
	Config   map[string]string `json:"config,omitempty"`
	Withheld []string          `json:"withheld,omitempty"` // properties that look like secrets; their values are not stored
	Offsets  []Offset          `json:"offsets"`            // null if the cluster cannot report offsets
}

// snapshot reads the current state of a connector. It waits while the state is about to
// change for reasons outside this program, such as a rebalance.
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

// settled waits until a connector has a stable state, and returns it.
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

// place brings a connector on this cluster into the wanted form, and creates it if
// necessary: first its offsets (nil leaves them unchanged), then its config without the
// mark of an unfinished connector. It may be interrupted at any point: until the mark is
// gone, the next attempt starts with the offsets again.
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

// restore returns a connector that was not moved to its snapshot: offsets and config if
// they differ, and the state in any case.
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

// undoOffsets returns the offsets to restore after an operation that did not set them
// itself.
func (h *Handler) undoOffsets(s *Snapshot) []Offset {
	if h.config.KeepProgress {
		return nil
	}
	return s.Offsets
}

// restored reports whether a connector matches a snapshot. Only the status of a running
// connector reliably shows the latest request; for any other status, which may be outdated,
// restored returns false and the request is repeated.
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
