package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutSchedule implements schedule.CallerTx.
func (t *callerTx) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (schedule.Schedule, error) {
	ctx, cancel := t.store.withTimeout(ctx)
	defer cancel()
	put, err := t.store.newPutting(ctx, sc, restart)
	if err == nil {
		err = t.inSavepoint(ctx, func() error { return put.in(ctx, t.in) })
	}
	if err = put.taken(err); err != nil {
		return schedule.Schedule{}, fmt.Errorf("put schedule in a transaction: %w", err)
	}
	t.later = true // it may be due sooner than any other
	return put.stored, nil
}

// Schedules implements schedule.CallerTx.
func (t *callerTx) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	ctx, cancel := t.store.withTimeout(ctx)
	defer cancel()
	var schedules []schedule.Schedule
	if err := t.in.run(ctx, t.store.schedulesCall(&schedules, filter)); err != nil {
		return nil, fmt.Errorf("schedules in a transaction: %w", err)
	}
	return schedules, nil
}

// Calendars implements schedule.CallerTx.
func (t *callerTx) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return t.store.Calendars(ctx)
}

// Now implements schedule.CallerTx.
func (t *callerTx) Now(ctx context.Context) (time.Time, error) { return t.store.Now(ctx) }

// AddBatch implements batch.CallerTx.
func (t *callerTx) AddBatch(ctx context.Context, b batch.Record, chunks []batch.Chunk) (batch.Record, error) {
	ctx, cancel := t.store.withTimeout(ctx)
	defer cancel()
	row, err := newBatchRow(&b)
	if err == nil {
		err = t.store.renewing(ctx, func(ctx context.Context) error {
			known := t.store.server.Load() // that the ids come from
			columns, err := t.store.numberChunks(ctx, chunks)
			if err != nil {
				return err
			}
			return t.inSavepoint(ctx, func() error { return t.addBatch(ctx, known, &b, &row, columns) })
		})
	}
	if err != nil {
		return batch.Record{}, fmt.Errorf("add batch in a transaction: %w", err)
	}
	return b, nil
}

func (t *callerTx) addBatch(ctx context.Context, known *knownServer, b *batch.Record, row *batchRow, columns *chunkColumns) error {
	same, stored := known.started.IsZero(), 0
	calls := []call{t.store.addBatchCall(&b.Batch, row)}
	if !same {
		calls = append(calls, call{sql: t.store.sql.IsServer, args: []any{known.started}, each: func(row sqlstore.Scanner) error { return row.Scan(&same) }})
	}
	if err := t.in.run(ctx, calls...); err != nil {
		return err
	}
	if !same {
		return sqlstore.ChangedLanes{anotherServer}
	}
	err := t.in.run(ctx,
		call{sql: t.store.sql.KeepBatch, args: []any{b.ID, int64(0), b.Opened, sqlstore.BatchOpen(b), string(b.State()), string(row.status), nil}},
		call{sql: t.store.sql.AddChunks, args: columns.added(b.ID), each: func(row sqlstore.Scanner) error { return row.Scan(&stored) }})
	if err == nil && stored == 0 {
		err = sqlstore.NoSuchBatch(b.ID)
	}
	return err
}

// Nodes implements batch.CallerTx.
func (t *callerTx) Nodes(ctx context.Context) ([]fairlead.Node, error) { return t.store.Nodes(ctx) }
