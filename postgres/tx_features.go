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
	ctx, cancel := t.store.withTimeout(beside(ctx))
	defer cancel()
	put, err := t.store.newPutting(ctx, sc, restart)
	if err == nil {
		err = t.inSavepoint(ctx, func() error { return put.in(ctx, t.in) })
	}
	if err = put.taken(err); err != nil {
		return schedule.Schedule{}, fmt.Errorf("put schedule in a transaction: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.later = true // it may be due sooner than any other
	return put.stored, nil
}

// Schedules implements schedule.CallerTx.
func (t *callerTx) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	ctx, cancel := t.store.withTimeout(beside(ctx))
	defer cancel()
	var schedules []schedule.Schedule
	if err := t.in.run(ctx, t.store.schedulesCall(ctx, &schedules, filter)); err != nil {
		return nil, fmt.Errorf("list schedules in a transaction: %w", err)
	}
	return schedules, nil
}

// Calendars implements schedule.CallerTx.
func (t *callerTx) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return t.store.Calendars(beside(ctx))
}

// Now implements schedule.CallerTx.
func (t *callerTx) Now(ctx context.Context) (time.Time, error) { return t.store.Now(beside(ctx)) }

// AddBatch implements batch.CallerTx.
func (t *callerTx) AddBatch(ctx context.Context, b batch.Record, chunks []batch.Chunk) (added batch.Record, err error) {
	ctx, cancel := t.store.withTimeout(beside(ctx))
	defer cancel()
	err = t.store.renewing(ctx, func(ctx context.Context) error {
		// The server that the ids come from.
		callers := batchDatabase{callerDatabase{t}, t.store.server.Load()}
		added, err = sqlstore.AddBatch(ctx, callers, callers, &t.store.sql.BatchStatements, b, chunks)
		return err
	})
	return added, err
}

// batchDatabase is a caller's transaction that stores a batch with ids of a server.
type batchDatabase struct {
	callerDatabase
	known *knownServer
}

// SetAside implements sqlstore.BatchDialect. Nothing pins the server of a caller's
// transaction: that it is the one that the ids come from is asked with the next statements.
func (d batchDatabase) SetAside(ctx context.Context, db sqlstore.DB, n int) (int64, error) {
	first, err := d.caller.store.ids.Run(ctx, n)
	if err != nil || d.known.started.IsZero() {
		return first, err
	}
	db.QueueEach(func(row sqlstore.Scanner) error {
		same := false
		if err := row.Scan(&same); err != nil || same {
			return err
		}
		return sqlstore.ChangedLanes{anotherServer}
	}, d.caller.store.sql.IsServer, d.known.started)
	return first, nil
}

// IsTaken implements sqlstore.BatchDialect.
func (batchDatabase) IsTaken(err error) bool { return nameTaken(err) }

// Nodes implements batch.CallerTx.
func (t *callerTx) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	return t.store.Nodes(beside(ctx))
}
