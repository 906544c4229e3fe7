package sqlite

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Checkpoint stores the progress of a shard's run and returns the run's orders. It returns
// ErrLeaseLost if the run has lost its lease, and ErrConflict if the checkpoint's mark is
// smaller than the stored mark.
func (s *Store) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	c := checkpoint // the caller's own may change once the caller has given up waiting
	c.Window, c.Pending, c.Source = slices.Clone(c.Window), slices.Clone(c.Pending), slices.Clone(c.Source)
	c.Failed, c.Redone = slices.Clone(c.Failed), slices.Clone(c.Redone)
	return inTx(ctx, s, "checkpoint", func(t *txn) (sweep.Orders, error) { return t.checkpoint(&c) })
}

// checkpoint writes nothing before it is known to count.
func (t *txn) checkpoint(c *sweep.Checkpoint) (sweep.Orders, error) {
	var s sweep.Record
	var granted sqlstore.Granted
	var mark int64
	held := false
	err := t.each(t.sql.Orders, []any{c.Sweep, c.Number, c.Job, c.Fence}, func(row sqlstore.Scanner) (err error) {
		held = true
		s, err = sqlstore.ScanSweep(sqlstore.LongerRow(row, &granted.Rate, &granted.InFlight, &granted.Number, &granted.Fence, &mark))
		return err
	})
	if err == nil && !held {
		err = sqlstore.ShardLost(c)
	}
	if err == nil && c.Mark < mark {
		err = sqlstore.BehindMark(c)
	}
	if err != nil {
		return sweep.Orders{}, err
	}
	if err := t.must(1, t.sql.Save, c.Job, c.Fence); err != nil {
		return sweep.Orders{}, err
	}
	err = t.must(1, t.sql.Checkpoint, c.Mark, blob(c.Window), text(c.Pending), text(c.Source), c.Done, c.Abandoned, sqlstore.AgainAfter(c), c.Errors, c.Measured,
		c.Used.Rate, c.Used.InFlight, c.Ended, granted.Number, c.Fence, t.now, c.Behind, c.To, c.Sweep, c.Number)
	if err != nil {
		return sweep.Orders{}, err
	}
	if err := t.noteItems(c); err != nil {
		return sweep.Orders{}, err
	}
	var done, abandoned int64
	_, err = t.one(t.sql.BudgetUsed, []any{c.Sweep}, &done, &abandoned)
	return sqlstore.OrdersOf(&s, granted.For(c.Fence), done, abandoned), err
}

// blob is bytes as an argument, null if there are none.
func blob(value []byte) any {
	if len(value) == 0 {
		return nil
	}
	return value
}
