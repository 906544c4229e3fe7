package sqlite

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Reap marks nodes with expired leases as dead, and takes back the jobs of dead and unknown
// nodes. It commits the marks before it moves any job.
func (s *Store) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	var reaped driver.Reaped
	buried, err := inTx(ctx, s, "bury nodes", func(t *txn) (int64, error) { return t.exec(t.sql.MarkDead, t.now) })
	if err != nil {
		return reaped, err
	}
	reaped.Nodes = int(buried)
	_, err = inChunks(reap.Limit, oneByOne, func(limit int) (int, error) {
		part, err := inTx(ctx, s, "reap", func(t *txn) (driver.Reaped, error) { return t.reap(reap, limit) })
		reaped.Jobs += part.Jobs
		reaped.Poisoned += part.Poisoned
		reaped.Cancelled += part.Cancelled
		return part.Jobs + part.Poisoned + part.Cancelled, err
	})
	return reaped, err
}

func (t *txn) reap(reap driver.Reap, limit int) (driver.Reaped, error) {
	var reaped driver.Reaped
	ids, err := t.list(t.sql.Orphans, reap.MaxCrashes, t.now-reap.Patience.Microseconds(), limit)
	if err != nil {
		return reaped, err
	}
	for _, id := range ids {
		p, err := t.locate(id)
		if err != nil {
			return reaped, err
		}
		if err := t.crash(p, reap.MaxCrashes, &reaped); err != nil {
			return reaped, fmt.Errorf("job %d: %w", id, err)
		}
	}
	return reaped, nil
}

// crash takes a job away from a node that died, or lost its lease.
func (t *txn) crash(p *placed, maxCrashes int, reaped *driver.Reaped) error {
	lived, heard := false, int64(0)
	if _, err := t.one(t.sql.HasLived, []any{p.node}, &lived, &heard); err != nil {
		return err
	}
	loss := verdict.TakeBack(verdict.Orphan{
		Node: p.node, Heard: sqlstore.Time(heard), Lived: lived, Wish: p.wished(), CancelOnCrash: p.flags&sqlstore.FlagCancelOnCrash != 0, Crashes: p.crashes,
	}, maxCrashes)
	loss.Count(reaped)
	if err := t.record(p, loss.RunReason, loss.RunError); err != nil {
		return err
	}
	if loss.Revocable {
		if err := t.must(1, t.sql.AddReaped, p.node, p.id, p.attempt, t.now); err != nil {
			return err
		}
	}
	p.crashes = loss.Crashes
	return t.become(p, &loss.Next)
}
