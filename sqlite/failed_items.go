package sqlite

import (
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// noteItems keeps what a checkpoint tells of items.
func (t *txn) noteItems(c *sweep.Checkpoint) error {
	if c.Ended {
		if _, err := t.exec(t.sql.LeaveAlone, c.Sweep, c.Number); err != nil {
			return err
		}
	}
	if len(c.Redone) > 0 {
		if _, err := t.exec(t.sql.ForgetFailed, c.Sweep, idList(c.Redone)); err != nil {
			return err
		}
	}
	return t.addFailed(c.Sweep, sqlstore.LastOfEach(c.Failed))
}

// addFailed notes items, each once.
func (t *txn) addFailed(sweep int64, items []sweep.FailedItem) error {
	for _, item := range items {
		at := t.now
		if !item.At.IsZero() {
			at = sqlstore.Micros(item.At)
		}
		if err := t.must(1, t.sql.AddFailed, sweep, item.Index, item.Attempts, sqlstore.CleanText(item.Error), at); err != nil {
			return err
		}
	}
	return nil
}
