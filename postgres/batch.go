package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// batchRow is what is stored of a batch as JSON.
type batchRow struct {
	body, status []byte
}

func newBatchRow(b *batch.Record) (row batchRow, err error) {
	if row.body, err = sqlstore.EncodeBatch(&b.Batch); err != nil {
		return row, err
	}
	row.status, err = sqlstore.EncodeBatchStatus(b)
	return row, err
}

// Batches returns the matching batches, newest first. Unlike most queries, it is not shared
// between stores, because each combination of filters needs a query with a known plan.
func (s *Store) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	text := s.sql.BatchesOfAll
	switch {
	case len(filter.IDs) > 0:
		text = s.sql.BatchesByID
	case filter.Open:
		text = s.sql.BatchesOpen
	case len(filter.Names) > 0:
		text = s.sql.BatchesByName
	case len(filter.Tenants) > 0:
		text = s.sql.BatchesByTenant
	}
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	var batches []batch.Record
	err := s.run(ctx, call{
		sql: text,
		args: []any{
			below, sqlstore.BatchPage(filter), distinct(filter.IDs), distinct(filter.Names), distinct(filter.Tenants),
			distinct(filter.Types), distinct(filter.Queues), filter.Open, batch.SeenFor.Microseconds(),
			distinct(filter.Creators), distinct(filter.Envs), distinct(sqlstore.BatchStates(filter)),
		},
		restart: func() { batches = nil },
		each: sqlstore.Collect(ctx, &batches, func(row sqlstore.Scanner) (batch.Record, error) {
			var told bool
			var seen batch.Seen
			batch, err := sqlstore.ScanBatch(extraColumns{row, []any{&told, &seen.Forward, &seen.Retry, &seen.Undo}})
			if told {
				seen = batch.Seen
			}
			sqlstore.SawRunning(&batch.Batch, seen)
			return batch, err
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("batches: %w", err)
	}
	return batches, nil
}

// extraColumns is a row with more columns than are asked for.
type extraColumns struct {
	row  sqlstore.Scanner
	more []any
}

// Scan reads the columns that are asked for, and the others.
func (w extraColumns) Scan(into ...any) error { return w.row.Scan(slices.Concat(into, w.more)...) }

// SetAside implements sqlstore.BatchDialect.
func (d database) SetAside(ctx context.Context, _ sqlstore.DB, n int) (int64, error) {
	return d.Store.ids.Run(ctx, n)
}
