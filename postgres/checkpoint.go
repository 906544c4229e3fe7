package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Checkpoint stores the progress of a shard's run and returns the run's orders. It returns
// ErrLeaseLost if the run has lost its lease, and ErrConflict if the mark is smaller than
// the stored mark. Checkpoint executes a single statement.
func (s *Store) Checkpoint(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	var sw sweep.Record
	var granted sqlstore.Granted
	var held, kept bool
	var done, abandoned int64
	failed := columnsOf(c.Failed)
	err := s.run(ctx, call{
		sql: s.sql.Checkpoint,
		args: []any{
			c.Sweep, c.Number, c.Job, c.Fence, c.Mark, c.Window, jsonText(c.Pending), jsonText(c.Source), c.Done, c.Abandoned, c.Errors, c.Measured,
			c.Used.Rate, c.Used.InFlight, c.Ended, c.To, c.Again, orEmpty(c.Redone), failed.indexes, failed.attempts, failed.errors, failed.times, c.Behind,
		},
		restart: func() { held, kept = false, false },
		each: func(row sqlstore.Scanner) (err error) {
			held = true
			sw, err = sqlstore.ScanSweep(sqlstore.LongerRow(row, &granted.Rate, &granted.InFlight, &granted.Fence, &kept, &done, &abandoned))
			return err
		},
	})
	switch {
	case err != nil:
	case !held:
		err = sqlstore.ShardLost(&c)
	case !kept:
		err = sqlstore.BehindMark(&c)
	}
	if err != nil {
		return sweep.Orders{}, fmt.Errorf("checkpoint: %w", err)
	}
	return sqlstore.OrdersOf(&sw, granted.For(c.Fence), done+c.Done, abandoned+c.Abandoned-sqlstore.AgainAfter(&c)), nil
}

// failedColumns is failed items as statements take them: in step, each index once.
type failedColumns struct {
	indexes  []int64
	attempts []int
	errors   []string
	times    []int64
}

func columnsOf(items []sweep.FailedItem) failedColumns {
	items = sqlstore.LastOfEach(items)
	n := len(items)
	c := failedColumns{make([]int64, n), make([]int, n), make([]string, n), make([]int64, n)}
	for i, item := range items {
		c.indexes[i], c.attempts[i], c.errors[i], c.times[i] = item.Index, item.Attempts, sqlstore.CleanText(item.Error), sqlstore.Micros(item.At)
	}
	return c
}

// orEmpty is a list as an argument that is never null.
func orEmpty(list []int64) []int64 {
	if list == nil {
		return []int64{}
	}
	return list
}
