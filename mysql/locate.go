package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// locate finds a job wherever it is, and locks it there. That it is in a place
// is concluded only from its locked row there, never from its absence
// elsewhere. It may move while it is looked for, so the search starts over
// until it hits; no claim takes it meanwhile, so that it comes to rest.
func (t *txn) locate(ctx context.Context, id int64) (*placed, error) {
	const tries = 100
	for range tries {
		p := &placed{id: id}
		var place string
		known, err := t.one(ctx, []any{&p.lane, &p.turn, &p.startBy, &p.notBefore, &p.createdAt, &p.key, &p.flags, &place}, t.sql.LockJob, id)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fairlead.NoSuchJob(id)
		}
		if found, err := t.lockPlace(ctx, p, place); found || err != nil {
			return p, err
		}
	}
	return nil, fmt.Errorf("job %d moves too fast to be found", id)
}

// lockPlace locks the job where it is said to be. In a caller's transaction
// that may be an old story, so there it looks through all places in the order
// of a job's life. Elsewhere it does not: even the remains of a row that has
// moved on would be locked, and stand in the way of its return.
func (t *txn) lockPlace(ctx context.Context, p *placed, place string) (bool, error) {
	for _, look := range []struct {
		place string
		lock  func(context.Context, *placed) (bool, error)
	}{
		{"later", t.lockLater}, {"ready", t.lockReady}, {"running", t.lockRunning}, {"waiting", t.lockWaiting}, {"done", t.lockDone},
	} {
		if place != look.place && !t.callers {
			continue
		}
		if found, err := look.lock(ctx, p); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (t *txn) lockLater(ctx context.Context, p *placed) (bool, error) {
	p.state = fairlead.Scheduled
	return t.one(ctx, []any{&p.attempt, &p.failures, &p.crashes}, t.sql.LockLater, p.id)
}

func (t *txn) lockReady(ctx context.Context, p *placed) (bool, error) {
	p.state = fairlead.Ready
	return t.one(ctx, []any{&p.solo, &p.attempt, &p.failures, &p.crashes}, t.sql.LockReady, p.lane, p.turn, p.startBy, p.id)
}

func (t *txn) lockRunning(ctx context.Context, p *placed) (bool, error) {
	locked, err := t.running(ctx, t.sql.LockRunning, []int64{p.id})
	if err != nil || locked[p.id] == nil {
		return false, err
	}
	running := locked[p.id]
	p.state = running.state
	p.fence, p.node, p.attempt, p.failures, p.crashes = running.fence, running.node, running.attempt, running.failures, running.crashes
	p.startedAt, p.wish, p.answer = running.startedAt, running.wish, running.answer
	return true, nil
}

func (t *txn) lockWaiting(ctx context.Context, p *placed) (bool, error) {
	p.state = fairlead.Waiting
	return t.one(ctx, []any{&p.fence, &p.node, &p.attempt, &p.failures, &p.crashes, &p.startedAt, &p.deadline}, t.sql.LockWaiting, p.id)
}

func (t *txn) lockDone(ctx context.Context, p *placed) (bool, error) {
	var outcome int
	found, err := t.one(ctx, []any{
		&outcome, &p.reason, &p.fence, &p.node, &p.attempt, &p.failures, &p.crashes, &p.startedAt, &p.output, &p.err,
	}, t.sql.LockDone, p.id)
	p.state = sqlstore.StateOf(outcome)
	return found, err
}

// running locks and reads running jobs, by id.
func (t *txn) running(ctx context.Context, statement string, ids []int64) (map[int64]*placed, error) {
	locked := make(map[int64]*placed, len(ids))
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		p := &placed{state: fairlead.Running}
		if err := row.Scan(&p.id, &p.fence, &p.node, &p.lane, &p.attempt, &p.failures, &p.crashes, &p.startedAt, &p.wish, &p.answer); err != nil {
			return err
		}
		locked[p.id] = p
		return nil
	}, statement, ids)
	return locked, err
}

// readOrder reads what of the jobs decides how they go on, once their places
// are locked.
func (t *txn) readOrder(ctx context.Context, jobs map[int64]*placed) error {
	return t.eachOf(ctx, func(row *sql.Rows) error {
		var id, turn, startBy int64
		var flags int16
		if err := row.Scan(&id, &turn, &startBy, &flags); err != nil {
			return err
		}
		p := jobs[id]
		p.turn, p.startBy, p.flags = turn, startBy, flags
		return nil
	}, fill(t.sql.OrderOf, "fresh", t.fresh()), slices.Sorted(maps.Keys(jobs)))
}
