package faulty

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Join joins, or fails on command.
func (s *Store) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	return do(ctx, s, Join, func(ctx context.Context) (fairlead.NodeID, error) { return s.Store.Join(ctx, node, lease) })
}

// Beat sends a heartbeat, or fails on command.
func (s *Store) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	return do(ctx, s, Beat, func(ctx context.Context) (driver.BeatAnswer, error) { return s.Store.Beat(ctx, beat) })
}

// Lived reports a live node, or fails on command.
func (s *Store) Lived(ctx context.Context, node fairlead.NodeID) error {
	return justDo(ctx, s, Lived, func(ctx context.Context) error { return s.Store.Lived(ctx, node) })
}

// Leave leaves, or fails on command.
func (s *Store) Leave(ctx context.Context, node fairlead.NodeID) error {
	return justDo(ctx, s, Leave, func(ctx context.Context) error { return s.Store.Leave(ctx, node) })
}

// Claim claims, or fails on command.
func (s *Store) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	return do(ctx, s, Claim, func(ctx context.Context) ([]*fairlead.Job, error) { return s.Store.Claim(ctx, claim) })
}

// Settle settles, or fails on command.
func (s *Store) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	return do(ctx, s, Settle, func(ctx context.Context) ([]fairlead.Settled, error) { return s.Store.Settle(ctx, settlements) })
}

// Save saves, or fails on command.
func (s *Store) Save(ctx context.Context, save fairlead.Save) error {
	return justDo(ctx, s, Save, func(ctx context.Context) error { return s.Store.Save(ctx, save) })
}

// Held returns the held leases, or fails on command.
func (s *Store) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	return do(ctx, s, Held, func(ctx context.Context) ([]driver.Held, error) { return s.Store.Held(ctx, node) })
}

// Listen listens, or fails on command. CutListeners interrupts it.
func (s *Store) Listen(ctx context.Context, scope *driver.Scope, wake func(driver.Wake)) error {
	return justDo(ctx, s, Listen, func(ctx context.Context) error {
		ctx, cut := context.WithCancelCause(ctx)
		defer cut(nil)
		defer s.listening(cut)()
		if err := s.Store.Listen(ctx, scope, wake); err != nil {
			return err
		}
		if errors.Is(context.Cause(ctx), ErrFault) {
			return ErrFault
		}
		return nil
	})
}

// Promote promotes, or fails on command.
func (s *Store) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	return do(ctx, s, Promote, func(ctx context.Context) (driver.Promotion, error) { return s.Store.Promote(ctx, limit) })
}

// Reap reaps, or fails on command.
func (s *Store) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	return do(ctx, s, Reap, func(ctx context.Context) (driver.Reaped, error) { return s.Store.Reap(ctx, reap) })
}

// Overdue fails together with Expire.
func (s *Store) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	return do(ctx, s, Expire, func(ctx context.Context) ([]driver.Held, error) { return s.Store.Overdue(ctx, limit) })
}

// Expire expires, or fails on command.
func (s *Store) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	return do(ctx, s, Expire, func(ctx context.Context) (int, error) { return s.Store.Expire(ctx, overdue) })
}

// Prune prunes, or fails on command.
func (s *Store) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	return do(ctx, s, Prune, func(ctx context.Context) (int, error) { return s.Store.Prune(ctx, keep, limit) })
}
