package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Again implements sweep.Tx.
func (t *sweepTx) Again(ctx context.Context, indexes []int64) ([]int64, error) {
	var unknown []int64
	err := t.in.run(ctx,
		call{sql: t.sql.RetryFailed, args: []any{t.sweep, distinct(indexes)}},
		idsCall(&unknown, t.sql.NotFailed, t.sweep, orEmpty(indexes)),
		call{sql: t.sql.ReopenShards, args: []any{t.sweep}})
	return unknown, t.note("again", err)
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
