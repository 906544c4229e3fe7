package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// again lets failed items of a sweep that is locked wait to be tried again, and tells
// which of the indexes are not those of any.
func (t *txn) again(ctx context.Context, sweep int64, indexes []int64) ([]int64, error) {
	if len(indexes) == 0 {
		if _, err := t.exec(ctx, t.sql.RetryAllFailed, sweep); err != nil {
			return nil, err
		}
		return nil, t.reopen(ctx, sweep)
	}
	var failed []int64
	for list := range idChunks(indexes) {
		if err := t.each(ctx, collect(&failed), fill(t.sql.KnownFailed, "ids", list), sweep); err != nil {
			return nil, err
		}
		if _, err := t.exec(ctx, fill(t.sql.RetryFailed, "ids", list), sweep); err != nil {
			return nil, err
		}
	}
	known := make(map[int64]bool, len(failed))
	for _, index := range failed {
		known[index] = true
	}
	var unknown []int64
	for _, index := range indexes {
		if !known[index] {
			unknown = append(unknown, index)
		}
	}
	return unknown, t.reopen(ctx, sweep)
}

// reopen counts what waits to be tried again in each shard, and lets those in which
// something does begin anew. One that had ended before its last item ends where it has
// come to.
func (t *txn) reopen(ctx context.Context, sw int64) error {
	shards, err := t.readShards(ctx, t.tx, sw)
	if err != nil {
		return err
	}
	for i := range shards {
		s, again := &shards[i], int64(0)
		first, end := sqlstore.ItemRange(sweep.ItemFilter{From: true, After: s.From - 1, Below: s.To})
		if _, err := t.one(ctx, []any{&again}, t.sql.CountAgain, sw, first, end); err != nil {
			return err
		}
		if again == 0 {
			continue
		}
		to := s.To
		if s.Ended {
			to = s.Mark
		}
		if _, err := t.exec(ctx, t.sql.ReopenShard, again, to, sw, s.Number); err != nil {
			return err
		}
	}
	return nil
}

// noteItems keeps what a checkpoint tells of items.
func (t *txn) noteItems(ctx context.Context, c *sweep.Checkpoint) error {
	if c.Ended {
		if _, err := t.exec(ctx, t.sql.LeaveAlone, c.Sweep, c.Number); err != nil {
			return err
		}
	}
	for list := range idChunks(c.Redone) {
		if _, err := t.exec(ctx, fill(t.sql.ForgetFailed, "ids", list), c.Sweep); err != nil {
			return err
		}
	}
	return t.addFailed(ctx, c.Sweep, sqlstore.LastOfEach(c.Failed))
}

// addFailed notes items, each once.
func (t *txn) addFailed(ctx context.Context, sweep int64, items []sweep.FailedItem) error {
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	var failed tuples
	for _, item := range items {
		at := now
		if !item.At.IsZero() {
			at = sqlstore.Micros(item.At)
		}
		failed.add().ints(sweep, item.Index, int64(item.Attempts)).str(sqlstore.CleanText(item.Error)).int(at).end()
	}
	return t.insert(ctx, t.sql.AddFailed, &failed)
}
