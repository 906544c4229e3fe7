package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ReadBatches implements sqlstore.ConductDialect, in one statement. Each combination of filters
// needs a statement with a known plan.
func (d database) ReadBatches(ctx context.Context, db sqlstore.DB, filter batch.Filter) (batches []batch.Record, err error) {
	sql := &d.Store.sql
	text := sql.BatchesOfAll
	switch {
	case len(filter.IDs) > 0:
		text = sql.BatchesByID
	case filter.Open:
		text = sql.BatchesOpen
	case len(filter.Names) > 0:
		text = sql.BatchesByName
	case len(filter.Tenants) > 0:
		text = sql.BatchesByTenant
	}
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	err = db.Each(ctx, sqlstore.Collect(ctx, &batches, func(row sqlstore.Scanner) (batch.Record, error) {
		var told bool
		var seen batch.Seen
		b, err := sqlstore.ScanBatch(sqlstore.LongerRow(row, &told, &seen.Forward, &seen.Retry, &seen.Undo))
		if told {
			seen = b.Seen
		}
		sqlstore.SawRunning(&b.Batch, seen)
		return b, err
	}), text, below, sqlstore.BatchPage(filter), distinct(filter.IDs), distinct(filter.Names), distinct(filter.Tenants),
		distinct(filter.Types), distinct(filter.Queues), filter.Open, batch.SeenFor.Microseconds(),
		distinct(filter.Creators), distinct(filter.Envs), distinct(sqlstore.BatchStates(filter)))
	return batches, err
}

// SetAside implements sqlstore.BatchDialect.
func (d database) SetAside(ctx context.Context, _ sqlstore.DB, n int) (int64, error) {
	return d.Store.ids.Run(ctx, n)
}

// TaskCache implements sqlstore.ConductDialect.
func (d database) TaskCache() *sqlstore.TaskCache { return &d.Store.tasks }

// Release implements sqlstore.ConductDialect. The jobs travel with the next statement that is
// waited for.
func (d database) Release(_ context.Context, tx sqlstore.JobTx, jobs []*fairlead.Job) error {
	fresh := &newJobs{jobs: slices.Clone(jobs), ids: make([]int64, len(jobs))}
	for i, job := range jobs {
		fresh.ids[i] = job.ID
	}
	if err := d.Store.knowLanesOf(fresh); err != nil {
		return err
	}
	tx.(*jobTx).add(fresh)
	return nil
}

// Recall implements sqlstore.ConductDialect.
func (d database) Recall(ctx context.Context, tx sqlstore.JobTx, first, last int64) ([]int64, error) {
	t, sql := tx.(*jobTx), &d.Store.sql
	var ids []int64
	if err := t.run(ctx, idsCall(&ids, sql.Recall, first, last)); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		t.queue = append(t.queue,
			call{sql: sql.LeaveGates, args: []any{ids, string(deleted)}, each: readGates(&t.freed)},
			call{sql: sql.Forget, args: []any{ids, ""}})
	}
	return ids, nil
}
