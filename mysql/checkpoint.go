package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Checkpoint stores a shard run's progress and returns its orders. It returns ErrLeaseLost
// if the run has lost its lease, and ErrConflict if the mark is smaller than the stored
// mark. It first reads the orders without a lock. It then writes the progress together with
// the number of the share that the orders contain, usually in one statement that is its own
// transaction.
func (s *Store) Checkpoint(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	orders, err := s.checkpoint(ctx, &c)
	if err != nil {
		return sweep.Orders{}, fmt.Errorf("checkpoint: %w", err)
	}
	return orders, nil
}

func (s *Store) checkpoint(ctx context.Context, c *sweep.Checkpoint) (sweep.Orders, error) {
	var sw sweep.Record
	var granted sqlstore.Granted
	var done, abandoned int64
	found := false
	err := each(ctx, s.db, func(row *sql.Rows) (err error) {
		found = true
		sw, err = sqlstore.ScanSweep(sqlstore.LongerRow(row, &granted.Rate, &granted.InFlight, &granted.Number, &granted.Fence, &done, &abandoned))
		return err
	}, s.sql.Orders, c.Sweep, c.Number, c.Sweep, c.Number, c.Sweep, c.Number, c.Job)
	if err != nil {
		return sweep.Orders{}, err
	}
	if !found {
		return sweep.Orders{}, sqlstore.ShardLost(c)
	}
	hit, err := s.keepCheckpoint(ctx, c, granted.Number)
	switch {
	case err != nil:
		return sweep.Orders{}, err
	case hit == 0:
		return sweep.Orders{}, s.whyNotKept(ctx, c)
	}
	return sqlstore.OrdersOf(&sw, granted.For(c.Fence), done+c.Done, abandoned+c.Abandoned-sqlstore.AgainAfter(c)), nil
}

// keepCheckpoint tells how many rows it has hit: none if it was refused. If there is
// something to tell of items, that makes one transaction with it.
func (s *Store) keepCheckpoint(ctx context.Context, c *sweep.Checkpoint, told int64) (hit int64, err error) {
	args := []any{
		c.Sweep, c.Number, c.Mark, orNull(c.Window), orNull(c.Pending), orNull(c.Source), c.Done, c.Abandoned, sqlstore.AgainAfter(c), c.Errors,
		c.Measured, c.Used.Rate, c.Used.InFlight, c.Ended, told, c.Fence, c.Behind, c.To, c.Job, c.Fence, c.Mark,
	}
	if len(c.Failed) == 0 && len(c.Redone) == 0 && !c.Ended {
		result, err := s.execAlone(ctx, s.db, s.sql.Checkpoint, args...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	err = s.inTx(ctx, "note items", func(ctx context.Context, t *txn) (err error) {
		if hit, err = t.exec(ctx, t.sql.Checkpoint, args...); err != nil || hit == 0 {
			return err
		}
		return t.noteItems(ctx, c)
	})
	return hit, err
}

// whyNotKept tells why a checkpoint was refused.
func (s *Store) whyNotKept(ctx context.Context, c *sweep.Checkpoint) error {
	var id int64
	err := one(ctx, s.db, []any{&id}, s.sql.RunsUnder, c.Job, c.Fence)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return sqlstore.ShardLost(c)
	case err != nil:
		return err
	}
	return sqlstore.BehindMark(c)
}

// orNull is bytes as an argument, null if there are none.
func orNull[T ~[]byte](value T) any {
	if len(value) == 0 {
		return nil
	}
	return []byte(value)
}
