package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

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
