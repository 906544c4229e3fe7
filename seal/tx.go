package seal

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Within returns the caller's transaction with sealing added. Pass the result of the wrapped
// store's Tx method.
func (s *Store) Within(tx driver.Tx) driver.Tx { return callerTx{tx, s.coder} }

type callerTx struct {
	driver.Tx
	coder
}

// Enqueue implements fairlead.Tx.
func (t callerTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	sealed, err := t.sealJobs(jobs)
	if err != nil {
		return err
	}
	if err := t.Tx.Enqueue(ctx, sealed); err != nil {
		return err
	}
	adopt(jobs, sealed)
	return nil
}

// Settle implements fairlead.Tx.
func (t callerTx) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	sealed, err := t.sealSettlements(settlements)
	if err != nil {
		return nil, err
	}
	settled, err := t.Tx.Settle(ctx, sealed)
	adoptReplacements(settlements, sealed)
	return settled, err
}

// Audit implements access.Auditor, for transactions of stores that have an audit log.
func (t callerTx) Audit(ctx context.Context, entries []access.Entry) error {
	return t.auditIn(ctx, t.Tx, entries)
}

// PutSchedule implements schedule.CallerTx.
func (t callerTx) PutSchedule(ctx context.Context, put schedule.Schedule, restart bool) (schedule.Schedule, error) {
	return t.putSchedule(ctx, t.Tx.PutSchedule, put, restart)
}

// Schedules implements schedule.CallerTx.
func (t callerTx) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	found, err := t.Tx.Schedules(ctx, filter)
	t.openSchedules(found)
	return found, err
}

// AddBatch implements batch.CallerTx.
func (t callerTx) AddBatch(ctx context.Context, record batch.Record, chunks []batch.Chunk) (batch.Record, error) {
	sealed, err := t.sealNewChunks(chunks)
	if err != nil {
		return batch.Record{}, err
	}
	given := record.Batch
	if err := t.sealBatch(&record.Batch); err != nil {
		return batch.Record{}, err
	}
	stored, err := t.Tx.AddBatch(ctx, record, sealed)
	if err == nil {
		adoptBatch(&stored.Batch, &given)
		adoptChunks(chunks, sealed)
	}
	return stored, err
}

// PutSweep implements sweep.CallerTx.
func (t callerTx) PutSweep(ctx context.Context, put sweep.Sweep) (sweep.Sweep, error) {
	return t.putSweep(ctx, t.Tx.PutSweep, put)
}

// Sweeps implements sweep.CallerTx.
func (t callerTx) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	found, err := t.Tx.Sweeps(ctx, filter)
	t.openSweeps(found)
	return found, err
}
