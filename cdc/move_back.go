package cdc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
)

// moveBack undoes a move. The connector that was moved is stopped first, so that
// there are never two that run; then it is made what it was at home, and only when
// it is in its old state there, it is deleted where it was moved to.
//
// It may be repeated: at home it goes through the same mark as a copy, and
// what is to be deleted is known by it too, or by its config.
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
		moved = nil // that of another program, which kept the move from being made
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

// stateAtHome is the state to which a connector returns: that of the snapshot, that which it
// keeps, or else the one that it is in.
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
	return stateRunning, nil // half of a move, and what it was is gone
}

// isCopy reports whether a connector is the copy of another, or of the snapshot.
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

// retire stops a connector that is to be deleted, and marks it, so that a repeat
// knows it even if its config was changed since it was moved. Without a snapshot it keeps its
// state, which stopping it would lose.
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

// configAtHome is the config that a connector had before it was moved. What the
// snapshot does not have comes from the connectors that are there.
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

// offsetsAtHome are where a connector reads on when it is back: where it was, or
// where it has come to since. Nil leaves what is there.
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
			return nil, err // it is back and reads already
		}
	}
	return away.needOffsets(ctx, name)
}
