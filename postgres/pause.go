package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Pause stops jobs of a queue, a kind or a tenant from being claimed.
func (s *Store) Pause(ctx context.Context, pause fairlead.Pause) error {
	ctx = sqlstore.MayWait(ctx)
	switch pause.Scope {
	case fairlead.PauseQueue, fairlead.PauseKind, fairlead.PauseTenant:
	default:
		message := fmt.Sprintf("is %q; it must be queue, kind or tenant", pause.Scope)
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "scope", Message: message}}}
	}
	if err := s.changeRules(ctx, func(ctx context.Context, c *ruleChange) error { return c.pause(ctx, pause, true) }); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// Resume undoes Pause and wakes nodes.
func (s *Store) Resume(ctx context.Context, pause fairlead.Pause) error {
	ctx = sqlstore.MayWait(ctx)
	if err := s.changeRules(ctx, func(ctx context.Context, c *ruleChange) error { return c.pause(ctx, pause, false) }); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

func (c *ruleChange) pause(ctx context.Context, pause fairlead.Pause, paused bool) error {
	sql := c.sql.Resume
	if paused {
		sql = c.sql.Pause
	}
	return c.in.run(ctx, call{sql: sql, args: []any{string(pause.Scope), pause.Name}})
}
