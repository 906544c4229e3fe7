package sqlite

import (
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// again lets failed items of a sweep wait to be tried again, and tells which of the
// indexes are not those of any.
func (t *txn) again(sweep int64, indexes []int64) (unknown []int64, err error) {
	if len(indexes) == 0 {
		_, err = t.exec(t.sql.RetryAllFailed, sweep)
	} else {
		list := idList(indexes)
		if _, err = t.exec(t.sql.RetryFailed, sweep, list); err == nil {
			err = t.each(t.sql.NotFailed, []any{list, sweep}, func(row sqlstore.Scanner) error {
				var index int64
				err := row.Scan(&index)
				unknown = append(unknown, index)
				return err
			})
		}
	}
	for _, statement := range []string{t.sql.ReopenShards, t.sql.Dismiss} {
		if err == nil {
			_, err = t.exec(statement, sweep)
		}
	}
	return unknown, err
}

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
