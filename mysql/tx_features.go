package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// inCallers does something in the caller's transaction, as a whole or not at all.
func inCallers[T any](ctx context.Context, c *callerTx, verb string, f func(ctx context.Context, t *txn) (T, error)) (result T, err error) {
	ctx, cancel := c.txn.withTimeout(ctx)
	defer cancel()
	err = c.call(ctx, func() error {
		result, err = f(ctx, &c.txn)
		return err
	})
	if err != nil {
		var none T
		return none, fmt.Errorf("%s in a transaction: %w", verb, err)
	}
	return result, nil
}

// PutSchedule implements schedule.CallerTx.
func (c *callerTx) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (schedule.Schedule, error) {
	body, err := sqlstore.EncodeSchedule(&sc)
	if err != nil {
		return schedule.Schedule{}, fmt.Errorf("put schedule: %w", err)
	}
	return inCallers(ctx, c, "put schedule", func(ctx context.Context, t *txn) (schedule.Schedule, error) {
		return t.putSchedule(ctx, sc, body, restart)
	})
}

// Schedules implements schedule.CallerTx.
func (c *callerTx) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	return inCallers(ctx, c, "list schedules", func(ctx context.Context, t *txn) ([]schedule.Schedule, error) {
		return t.readSchedules(ctx, t.tx, filter)
	})
}

// Calendars implements schedule.CallerTx.
func (c *callerTx) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return c.txn.Calendars(ctx)
}

// Now implements schedule.CallerTx.
func (c *callerTx) Now(ctx context.Context) (time.Time, error) { return c.txn.Now(ctx) }

// AddBatch implements batch.CallerTx.
func (c *callerTx) AddBatch(ctx context.Context, b batch.Record, chunks []batch.Chunk) (batch.Record, error) {
	return sqlstore.AddBatch(ctx, callerDatabase{c}, database{c.txn.Store}, &c.txn.Store.sql.BatchStatements, b, chunks)
}

// Nodes implements batch.CallerTx.
func (c *callerTx) Nodes(ctx context.Context) ([]fairlead.Node, error) { return c.txn.Nodes(ctx) }
