package cdc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
)

// moveBack undoes a move. It stops the moved connector first, so that two never run at the
// same time. Then it restores the connector at home, and deletes the moved one only when
// the restored one is in its old state.
//
// The operation may be repeated: the connector at home has the same mark as a copy while it
// is unfinished, and the connector to delete is recognized by the mark or by its config.
func (h *Handler) moveBack(ctx context.Context, task Task, home, away *client, s *Snapshot) error {
	name := task.connector()
	origin, err := home.find(ctx, name)
	if err != nil {
		return err
	}
	moved, err := away.find(ctx, name)
	if err != nil {
		return err
	}
	if moved != nil && origin != nil && !origin.unfinished() && !moved.unfinished() && !h.isCopy(away, moved, origin, s) {
		moved = nil // belongs to another program, which prevented the move
	}
	if origin == nil && moved == nil && s == nil {
		return fmt.Errorf("connector %q is no longer on cluster %q or %q; another program deleted it", name, home.Name, away.Name)
	}
	state, err := stateAtHome(ctx, task, home, away, origin, moved, s)
	if err != nil {
		return err
	}
	if moved != nil {
		if err := away.retire(ctx, task, moved, state, s); err != nil {
			return err
		}
	}
	config, err := configAtHome(home, origin, moved, s)
	if err != nil {
		return err
	}
	offsets, err := h.offsetsAtHome(ctx, name, home, away, origin, moved, s)
	if err != nil {
		return err
	}
	if kept := origin.kept(task); kept != "" {
		config = keeping(config, task, kept)
	}
	if err := home.place(ctx, name, origin, config, offsets); err != nil {
		return err
	}
	if err := home.reach(ctx, name, state); err != nil {
		return err
	}
	if moved != nil {
		if err := away.remove(ctx, name); err != nil {
			return err
		}
	}
	return home.forgetState(ctx, name)
}

// stateAtHome returns the state that a connector returns to: that of the snapshot, the
// stored one, or otherwise its current state.
func stateAtHome(ctx context.Context, task Task, home, away *client, origin, moved *connector, s *Snapshot) (string, error) {
	switch kept := cmp.Or(origin.kept(task), moved.kept(task)); {
	case s != nil:
		return s.State, nil
	case kept != "":
		return kept, nil
	case moved != nil && !moved.unfinished():
		return away.stateNow(ctx, task.connector(), nil)
	case origin != nil && !origin.unfinished():
		return home.stateNow(ctx, task.connector(), nil)
	}
	return stateRunning, nil // unfinished copy whose original state is lost
}

// isCopy reports whether a connector is a copy of another connector, or of the snapshot.
func (h *Handler) isCopy(away *client, moved, origin *connector, s *Snapshot) bool {
	if maps.Equal(moved.Config, away.dress(origin.Config)) {
		return true
	}
	if s == nil {
		return false
	}
	config, err := s.complete(moved.Config)
	return err == nil && maps.Equal(moved.Config, away.dress(config))
}

// retire stops a connector that is to be deleted, and marks it, so that a repeated attempt
// recognizes it even if its config was changed since the move. Without a snapshot it stores
// the connector's state in the config, because stopping it would lose the state.
func (c *client) retire(ctx context.Context, task Task, moved *connector, state string, s *Snapshot) error {
	name := task.connector()
	if s == nil && !moved.unfinished() {
		if err := c.putConfig(ctx, name, keeping(marked(moved.Config, leaving), task, state)); err != nil {
			return err
		}
		return c.stop(ctx, name)
	}
	if err := c.stop(ctx, name); err != nil || moved.unfinished() {
		return err
	}
	return c.putConfig(ctx, name, marked(moved.Config, leaving))
}

// configAtHome returns the config that a connector had before it was moved. Values missing
// in the snapshot come from the existing connectors.
func configAtHome(home *client, origin, moved *connector, s *Snapshot) (map[string]string, error) {
	live := map[string]string{}
	for _, c := range []*connector{moved, origin} {
		if c != nil {
			maps.Copy(live, c.Config)
		}
	}
	switch {
	case s != nil:
		return s.complete(live)
	case origin != nil:
		return unmarked(origin.Config), nil
	}
	return home.dress(moved.Config), nil
}

// offsetsAtHome returns the offsets from which a connector continues at home: the original
// ones, or those it has reached since. Nil means that the offsets at home stay unchanged.
func (h *Handler) offsetsAtHome(ctx context.Context, name string, home, away *client, origin, moved *connector, s *Snapshot) ([]Offset, error) {
	if s != nil && (!h.config.KeepProgress || origin == nil && moved == nil) {
		return s.Offsets, nil
	}
	if moved == nil || moved.Config[markProperty] == arriving {
		return nil, nil
	}
	if origin != nil && !origin.unfinished() {
		now, err := home.status(ctx, name)
		if err != nil || now.purpose() == stateRunning {
			return nil, err // it is back and already reading
		}
	}
	return away.needOffsets(ctx, name)
}
