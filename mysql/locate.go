package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// locate finds a job wherever it is, and locks it there. That it is in a place
// is concluded only from its locked row there, never from its absence
// elsewhere. It may move while it is looked for, so the search starts over
// until it hits; no claim takes it meanwhile, so that it comes to rest.
func (t *txn) locate(ctx context.Context, id int64) (*placed, error) {
	p := &placed{id: id}
	known, err := t.one(ctx, []any{&p.lane, &p.turn, &p.startBy, &p.notBefore, &p.createdAt, &p.key, &p.flags, &p.gate}, t.sql.LockJob, id)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, driver.NoSuchJob(id)
	}
	return p, t.find(ctx, p)
}

// find locks a job, whose own row is locked, where it is.
func (t *txn) find(ctx context.Context, p *placed) error {
	hints := []hinter{t.tx}
	if t.callers {
		// What it sees itself may be an old story, unless it is its own.
		hints = []hinter{t.lifeline, t.tx}
	}
	const tries = 100
	for range tries {
		for _, hint := range hints {
			if found, err := t.lockPlace(ctx, p, hint); found || err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("job %d changes state too fast to be read", p.id)
}

// hinter is who can be asked where a job is.
type hinter interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// lockPlace locks the job where it is said to be.
func (t *txn) lockPlace(ctx context.Context, p *placed, hint hinter) (bool, error) {
	var place string
	err := hint.QueryRowContext(ctx, t.sql.PlaceOf, p.id).Scan(&place)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	switch place {
	case "later":
		return t.lockLater(ctx, p)
	case "ready":
		return t.lockReady(ctx, p, 0)
	case "suspect":
		return t.lockReady(ctx, p, 1)
	case "parked":
		return t.lockParked(ctx, p)
	case "running":
		return t.lockRunning(ctx, p)
	case "waiting":
		return t.lockWaiting(ctx, p)
	case "done":
		return t.lockDone(ctx, p)
	}
	return false, nil
}

func (t *txn) lockLater(ctx context.Context, p *placed) (bool, error) {
	var due int64
	found, err := t.one(ctx, []any{&due, &p.attempt, &p.failures, &p.crashes}, t.sql.LockLater, p.id)
	if err != nil || !found {
		return false, err
	}
	p.schedule(due)
	return true, t.readPlaces(ctx, map[int64]*placed{p.id: p})
}

// schedule notes that the job is scheduled for that time.
func (p *placed) schedule(due int64) {
	p.state, p.queued = fairlead.Scheduled, due == sqlstore.Micros(fairlead.Never)
}

func (t *txn) lockParked(ctx context.Context, p *placed) (bool, error) {
	p.state = fairlead.Parked
	return t.one(ctx, []any{&p.attempt, &p.failures, &p.crashes}, t.sql.LockParked, p.gate, p.turn, p.startBy, p.id)
}

func (t *txn) lockReady(ctx context.Context, p *placed, solo int64) (bool, error) {
	p.state, p.solo = fairlead.Ready, solo
	return t.one(ctx, []any{&p.attempt, &p.failures, &p.crashes}, t.sql.LockReady, p.lane, p.solo, p.turn, p.startBy, p.id)
}

func (t *txn) lockRunning(ctx context.Context, p *placed) (bool, error) {
	locked, err := t.running(ctx, t.sql.LockRunning, []int64{p.id})
	if err != nil || locked[p.id] == nil {
		return false, err
	}
	p.lease(locked[p.id])
	return true, nil
}

// lease takes over what the row of a running job says.
func (p *placed) lease(running *placed) {
	p.state = running.state
	p.fence, p.node, p.attempt, p.failures, p.crashes = running.fence, running.node, running.attempt, running.failures, running.crashes
	p.startedAt, p.set, p.wish, p.answer = running.startedAt, running.set, running.wish, running.answer
}

func (t *txn) lockWaiting(ctx context.Context, p *placed) (bool, error) {
	p.state = fairlead.Waiting
	return t.one(ctx, []any{&p.fence, &p.node, &p.attempt, &p.failures, &p.crashes, &p.startedAt, &p.set, &p.deadline, &p.retryAfter}, t.sql.LockWaiting, p.id)
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
		if err := row.Scan(&p.id, &p.fence, &p.node, &p.lane, &p.attempt, &p.failures, &p.crashes, &p.startedAt, &p.set, &p.wish, &p.answer); err != nil {
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
	return eachOf(ctx, t.newest(), func(row *sql.Rows) error {
		var id, turn, startBy, gate int64
		var flags int16
		if err := row.Scan(&id, &turn, &startBy, &flags, &gate); err != nil {
			return err
		}
		p := jobs[id]
		p.turn, p.startBy, p.flags, p.gate = turn, startBy, flags, gate
		return nil
	}, t.sql.OrderOf, slices.Sorted(maps.Keys(jobs)))
}
