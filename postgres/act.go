package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Act implements sqlstore.Acting.
func (d database) Act(ctx context.Context, verb string, _ sqlstore.Subject, _ bool, f func(ctx context.Context, tx sqlstore.JobTx) error) (bool, error) {
	ctx, cancel := d.Store.withTimeout(ctx)
	defer cancel()
	var tx *jobTx
	err := d.Store.renewing(ctx, func(ctx context.Context) error {
		return d.Store.retry(ctx, func(ctx context.Context) error {
			return d.Store.seated(ctx, func(ctx context.Context) error {
				own := &ownTx{store: d.Store}
				defer own.end(ctx)
				tx = &jobTx{pipeline: own.pipeline(), store: d.Store}
				return tx.do(ctx, func(ctx context.Context, _ sqlstore.DB) error { return f(ctx, tx) })
			})
		})
	})
	if err != nil {
		return false, fmt.Errorf("%s: %w", verb, err)
	}
	tx.tell(ctx)
	return true, nil
}

// jobTx is a transaction that makes jobs: a sqlstore.JobTx.
type jobTx struct {
	*pipeline
	store *Store
	fresh []*newJobs
	begun time.Time // when the first of them were made
}

// Enqueue implements sqlstore.JobTx. The ids are taken on the connection of the transaction.
// The jobs travel with the next statement that is waited for.
func (t *jobTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	fresh := &newJobs{jobs: jobs, ids: make([]int64, len(jobs))}
	if err := t.store.knowLanesOf(fresh); err != nil {
		return err
	}
	var blocks []int64
	t.queue = append(t.queue, idsCall(&blocks, t.store.sql.TakeIDs, (len(jobs)+idBlock-1)/idBlock))
	if err := t.Flush(ctx); err != nil {
		return fmt.Errorf("reserve ids: %w", err)
	}
	for i := range fresh.ids {
		fresh.ids[i] = blocks[i/idBlock] + int64(i%idBlock)
	}
	if t.begun.IsZero() {
		t.begun = time.Now()
	}
	t.fresh = append(t.fresh, fresh)
	fresh.setIDs()
	t.queue = append(t.queue, fresh.plainCall(t.store))
	return nil
}

// tell wakes nodes that may run the jobs, once all is committed.
func (t *jobTx) tell(ctx context.Context) {
	for _, fresh := range t.fresh {
		t.store.announce(fresh, time.Since(t.begun))
		t.store.admit(ctx, fresh.gates())
	}
	if t.later {
		t.store.notifier.later()
	}
}
