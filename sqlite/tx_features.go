package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutSchedule implements schedule.CallerTx.
func (c *callerTx) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (schedule.Schedule, error) {
	body, err := sqlstore.EncodeSchedule(&sc)
	if err != nil {
		return schedule.Schedule{}, err
	}
	return within(ctx, c, "put schedule", func(t *txn) (schedule.Schedule, error) { return t.putSchedule(sc, string(body), restart) })
}

// Schedules implements schedule.CallerTx.
func (c *callerTx) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	return within(ctx, c, "list schedules", func(t *txn) ([]schedule.Schedule, error) { return t.schedules(filter) })
}

// Calendars implements schedule.CallerTx.
func (c *callerTx) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return sqlstore.ReadCalendars(ctx, callerDatabase{c}, &c.store.sql.CalendarStatements)
}

// Now implements schedule.CallerTx.
func (c *callerTx) Now(ctx context.Context) (time.Time, error) { return c.store.Now(ctx) }

// AddBatch implements batch.CallerTx.
func (c *callerTx) AddBatch(ctx context.Context, b batch.Record, chunks []batch.Chunk) (batch.Record, error) {
	return sqlstore.AddBatch(ctx, callerDatabase{c}, database{c.store}, &c.store.sql.BatchStatements, b, chunks)
}

// Nodes implements batch.CallerTx.
func (c *callerTx) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	return within(ctx, c, "list nodes", (*txn).allNodes)
}
