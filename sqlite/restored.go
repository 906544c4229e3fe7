package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	jobsLost  = 100_000_000 // more than can have been created since a file was copied
	nodesLost = 1000        // the same for nodes
)

// Restored records that the database was restored from a backup. It raises the counters of
// fences and IDs above all values that were ever used. Transactions take IDs from the counter
// when they need them, so other processes hold no reserved IDs that they would have to drop.
// Other processes compare their cached lanes with the database. They also read the limits and
// the ready jobs again, because the counters never return to an earlier value.
func (s *Store) Restored(ctx context.Context) (driver.Restored, error) {
	return inTx(ctx, s, "restored", func(t *txn) (done driver.Restored, err error) {
		var losses []byte
		if _, err := t.one(t.sql.CountServer, []any{sqlstore.VersionStep()}, &done.Server, &losses); err != nil {
			return done, err
		}
		if done.Fence, err = t.raise(fenceCounter, t.now); err != nil {
			return done, err
		}
		job, err := t.next(jobCounter, jobsLost)
		if err != nil {
			return done, err
		}
		node, err := t.next(nodeCounter, nodesLost)
		if err != nil {
			return done, err
		}
		done.Job, done.Node = job-1+jobsLost, fairlead.NodeID(node-1+nodesLost)
		if losses, err = sqlstore.AddLoss(losses, batch.Loss{Fence: done.Fence, Job: done.Job}); err != nil {
			return done, err
		}
		if err := t.must(1, t.sql.AddLoss, string(losses)); err != nil {
			return done, err
		}
		t.wakes.all, t.wakes.later, t.wakes.cancel = true, true, true
		_, err = t.beginLimitChange()
		return done, err
	})
}
