package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Act implements sqlstore.Acting.
func (d database) Act(ctx context.Context, verb string, _ sqlstore.Subject, _ bool, f func(ctx context.Context, tx sqlstore.JobTx) error) (bool, error) {
	ctx, cancel := d.Store.withTimeout(ctx)
	defer cancel()
	err := d.inJobTx(ctx, d.sql.BoundIdle, func(ctx context.Context, tx *jobTx) error {
		return tx.do(ctx, func(ctx context.Context, _ sqlstore.DB) error { return f(ctx, tx) })
	})
	if err != nil {
		return false, fmt.Errorf("%s: %w", verb, err)
	}
	return true, nil
}

// inJobTx runs a transaction that makes jobs, bounded in what it waits for, and wakes nodes
// once it is committed. It may run f more than once.
func (s *Store) inJobTx(ctx context.Context, bound string, f func(ctx context.Context, tx *jobTx) error) error {
	var tx *jobTx
	err := s.renewing(ctx, func(ctx context.Context) error {
		return s.retry(ctx, func(ctx context.Context) error {
			return s.seated(ctx, func(ctx context.Context) error {
				own := &ownTx{store: s}
				defer own.end(ctx)
				tx = &jobTx{pipeline: own.pipeline(bound), store: s}
				return f(ctx, tx)
			})
		})
	})
	if err == nil {
		tx.tell(ctx)
	}
	return err
}

// jobTx is a transaction that makes jobs: a sqlstore.JobTx.
type jobTx struct {
	*pipeline
	store *Store
	fresh []*newJobs
	begun time.Time // when the first of them were made
	freed []int64   // gates where recalled jobs had places
	done  effects   // of what was done to other jobs
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
	fresh.setIDs()
	t.add(fresh)
	return nil
}

// add queues the statement that stores jobs.
func (t *jobTx) add(fresh *newJobs) {
	if t.begun.IsZero() {
		t.begun = time.Now()
	}
	t.fresh = append(t.fresh, fresh)
	t.queue = append(t.queue, fresh.plainCall(t.store))
}

// tell wakes nodes that may run the jobs, once all is committed.
func (t *jobTx) tell(ctx context.Context) {
	for _, fresh := range t.fresh {
		t.store.announce(fresh, time.Since(t.begun))
		t.done.gates = append(t.done.gates, fresh.gates()...)
	}
	t.store.admit(ctx, t.freed)
	if t.later {
		t.store.notifier.later()
	}
	t.store.tell(ctx, &t.done)
}

// Operate implements sqlstore.JobTx. Jobs are acted upon in order of id: all together where
// one round trip can, and the others each in a savepoint that its refusal returns to.
func (t *jobTx) Operate(ctx context.Context, ids []int64, asked *verdict.Operation) (map[int64]error, error) {
	op := &operation{store: t.store, in: t}
	op.inTx = func(ctx context.Context, f func(context.Context, runner) error) error { return f(ctx, op.in) }
	rest, err := t.together(ctx, op, slices.Sorted(slices.Values(ids)), asked)
	if err != nil {
		return nil, op.allChanged(err)
	}
	refused := map[int64]error{}
	for _, id := range rest {
		t.queue = append(t.queue, call{sql: t.store.sql.Savepoint})
		switch err := op.do(ctx, id, asked); {
		case sqlstore.IsRefusal(err):
			refused[id] = err
			t.queue = append(t.queue, call{sql: t.store.sql.ReturnToSavepoint})
		case err != nil:
			return nil, op.allChanged(err)
		}
		t.queue = append(t.queue, call{sql: t.store.sql.ReleaseSavepoint})
	}
	t.done = op.effects
	return refused, nil
}

// together tries all jobs in one round trip, and returns those that it did not hit, which are
// to be looked at one by one. If one was hit in a state in which it is to be left, all of it is
// undone.
func (t *jobTx) together(ctx context.Context, op *operation, ids []int64, asked *verdict.Operation) (rest []int64, err error) {
	if len(ids) == 0 || !triedAtOnce(asked.Op) {
		return ids, nil
	}
	trials, err := op.trials(ctx, ids, asked)
	if err != nil {
		return nil, err
	}
	t.queue = append(t.queue, call{sql: t.store.sql.Savepoint})
	for _, trial := range trials {
		t.queue = append(t.queue, trial.moves()...)
	}
	var gates []int64
	if err := t.run(ctx, t.store.leaveCall(trials[0].how, &gates, ids...)); err != nil {
		return nil, err
	}
	hit := &operation{store: t.store}
	hit.gates = gates
	for _, trial := range trials {
		if trial.hit == "" {
			rest = append(rest, trial.id)
			continue
		}
		if _, refusal := hit.judge(trial, asked); refusal != nil {
			t.queue = append(t.queue, call{sql: t.store.sql.ReturnToSavepoint}, call{sql: t.store.sql.ReleaseSavepoint})
			return ids, nil
		}
	}
	op.effects = hit.effects
	t.queue = append(t.queue, call{sql: t.store.sql.ReleaseSavepoint})
	return rest, nil
}

// run implements runner: it sends what is queued first.
func (t *jobTx) run(ctx context.Context, calls ...call) error {
	t.queue = append(t.queue, calls...)
	return t.Flush(ctx)
}
