package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Verify recounts each limit's jobs and each open batch's tasks, corrects wrong counts, and
// returns them.
func (s *Store) Verify(ctx context.Context) (drift []driver.Drift, err error) {
	if drift, err = s.reholdAll(ctx); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	batches, err := sqlstore.VerifyBatches(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("verify batches: %w", err)
	}
	return append(drift, batches...), nil
}

// reholdAll makes every running or waiting job count against the current limits, and returns the
// limits whose count was wrong.
func (s *Store) reholdAll(ctx context.Context) (drift []driver.Drift, err error) {
	var c *limitChange
	err = s.inTx(ctx, func(ctx context.Context, r runner) error {
		c = &limitChange{Store: s, in: r}
		err := r.run(ctx, call{sql: s.sql.ExcludeClaims, args: []any{s.limitsLock}})
		if err == nil {
			drift, err = c.rehold(ctx)
		}
		return err
	})
	if err == nil {
		s.reholding.Left(c.left)
	}
	return drift, err
}

// reholdLeft moves the jobs to their new limits that another transaction held when those
// changed.
func (s *Store) reholdLeft(ctx context.Context) error {
	if !s.reholding.Due() {
		return nil
	}
	_, err := s.reholdAll(ctx)
	return err
}

// reholdTouched moves the running and waiting jobs of the touched scopes to their new
// limits. No job can start meanwhile: if there are none now, there will be none.
func (c *limitChange) reholdTouched(ctx context.Context) error {
	if len(c.touched) == 0 {
		return nil
	}
	var lanes []sqlstore.Lane
	if err := c.in.run(ctx, c.usedLanes(&lanes)); err != nil {
		return err
	}
	for _, lane := range lanes {
		if slices.ContainsFunc(c.touched, func(s scopeName) bool { return s.covers(lane) }) {
			_, err := c.rehold(ctx)
			return err
		}
	}
	return nil
}

func (c *limitChange) usedLanes(lanes *[]sqlstore.Lane) call {
	return call{sql: c.sql.UsedLanes, each: func(row sqlstore.Scanner) error {
		var lane sqlstore.Lane
		err := row.Scan(&lane.ID, &lane.Queue, &lane.Tenant, &lane.Kind)
		*lanes = append(*lanes, lane)
		return err
	}}
}

// rehold makes every running or waiting job count against the current limits, and counts
// the jobs under each limit again. It returns the limits whose count was wrong. A job that another transaction
// holds, maybe that of a caller, keeps the limits that it has: all claims wait meanwhile.
//
// The result is exact: claims are locked out, and the statement that counts sees of each
// job that it holds slots or that it has given the same slots back.
func (c *limitChange) rehold(ctx context.Context) (drift []driver.Drift, err error) {
	c.reheld = true
	var lanes []sqlstore.Lane
	reader := limitReader{}
	var running, waiting []int64
	calls := []call{{sql: c.sql.Rehold}, idsCall(&running, c.sql.HoldRunning), idsCall(&waiting, c.sql.HoldWaiting), c.usedLanes(&lanes)}
	if err := c.in.run(ctx, append(calls, reader.calls(&c.sql)...)...); err != nil {
		return nil, err
	}
	now := reader.config()
	ids, names := make([]int32, len(lanes)), make([]*string, len(lanes))
	for i, lane := range lanes {
		ids[i], names[i] = lane.ID, now.hold(lane).nameOrNull()
	}
	err = c.in.run(ctx,
		call{sql: c.sql.ReholdRunning, args: []any{ids, names, running}},
		call{sql: c.sql.ReholdWaiting, args: []any{ids, names, waiting}},
		call{sql: c.sql.ReholdLeft, args: []any{ids, names}, each: hits(&c.left)},
		call{sql: c.sql.Recount, each: func(row sqlstore.Scanner) error {
			var d driver.Drift
			err := row.Scan(&d.Scope, &d.Name, &d.Counted, &d.Found)
			drift = append(drift, d)
			return err
		}})
	return drift, err
}
