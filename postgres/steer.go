package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Steer acts upon a sweep under its lock.
func (s *Store) Steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, sweep *sweep.Record, tx sweep.Tx) error) (bool, error) {
	if wait {
		ctx = sqlstore.MayWait(ctx)
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var t *sweepTx
	err := s.renewing(ctx, func(ctx context.Context) (err error) {
		t, err = s.steer(ctx, id, wait, act)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("steer: %w", err)
	}
	t.tell(ctx)
	return t.locked, nil
}

// steer is one transaction, or several if it has to be repeated.
func (s *Store) steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, sweep *sweep.Record, tx sweep.Tx) error) (t *sweepTx, err error) {
	err = s.inTx(ctx, func(ctx context.Context, r runner) error {
		t = &sweepTx{Store: s, in: r, sweep: id}
		before, err := t.lock(ctx, wait)
		if err != nil || !t.locked {
			return err
		}
		after := before
		if err := act(ctx, &after, t); err != nil {
			return err
		}
		if t.failed != nil { // whatever act makes of it
			return t.failed
		}
		return t.keep(ctx, &before, &after)
	})
	return t, err
}

// sweepTx is a transaction that steers a sweep: a sweep.Tx.
type sweepTx struct {
	*Store
	in     runner
	sweep  int64
	locked bool
	now    time.Time // the database's clock, read under the lock
	failed error     // why it cannot be kept

	fresh []*newJobs
	begun time.Time // when the first of them were sent
}

// lock locks the sweep, unless another has it locked and wait is not set.
func (t *sweepTx) lock(ctx context.Context, wait bool) (sweep sweep.Record, err error) {
	text, exists, now := t.sql.TrySweep, false, int64(0)
	if wait {
		text = t.sql.LockSweep
	}
	err = t.in.run(ctx,
		call{sql: text, args: []any{t.sweep}, each: func(row sqlstore.Scanner) (err error) {
			t.locked = true
			sweep, err = sqlstore.ScanSweep(row)
			return err
		}},
		call{sql: t.sql.SweepExists, args: []any{t.sweep}, each: hits(&exists)},
		call{sql: t.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	if err == nil && !exists {
		err = sqlstore.NoSuchSweep(t.sweep)
	}
	t.now = sqlstore.Time(now)
	return sweep, err
}

// keep writes what is new about the sweep.
func (t *sweepTx) keep(ctx context.Context, before, after *sweep.Record) error {
	row, news, err := sqlstore.SteeredRow(before, after)
	if err != nil || !news {
		return err
	}
	body := row.Body
	if row.Version == before.Version {
		body = nil // as it was
	}
	return t.in.run(ctx, call{sql: t.sql.KeepSweep, args: []any{t.sweep, string(row.State), row.Version, jsonText(row.Status), jsonText(body)}})
}

// tell wakes those who may run the jobs, once all is committed.
func (t *sweepTx) tell(ctx context.Context) {
	for _, fresh := range t.fresh {
		t.announce(fresh, time.Since(t.begun))
		t.admit(ctx, fresh.gates())
	}
}

// note notes that something failed: then nothing is kept.
func (t *sweepTx) note(verb string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", verb, err)
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// Now implements sweep.Tx.
func (t *sweepTx) Now() time.Time { return t.now }

// Employ implements sweep.Tx.
func (t *sweepTx) Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := t.Enqueue(ctx, jobs); err != nil {
		return err
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	employed := map[int]bool{}
	err := t.in.run(ctx, call{sql: t.sql.Employ, args: []any{t.sweep, numbers, ids}, each: func(row sqlstore.Scanner) error {
		var number int
		err := row.Scan(&number)
		employed[number] = true
		return err
	}})
	for _, number := range numbers {
		if err == nil && !employed[number] {
			err = sqlstore.NoSuchShard(t.sweep, number)
		}
	}
	return t.note("employ", err)
}

// Enqueue implements sweep.Tx. The ids are taken on the connection of the
// transaction.
func (t *sweepTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	fresh := &newJobs{jobs: jobs, ids: make([]int64, len(jobs))}
	if err := t.knowLanesOf(fresh); err != nil {
		return t.note("enqueue", err)
	}
	var blocks []int64
	if err := t.in.run(ctx, idsCall(&blocks, t.sql.TakeIDs, (len(jobs)+idBlock-1)/idBlock)); err != nil {
		return t.note("reserve ids", err)
	}
	for i := range fresh.ids {
		fresh.ids[i] = blocks[i/idBlock] + int64(i%idBlock)
	}
	if t.begun.IsZero() {
		t.begun = time.Now()
	}
	t.fresh = append(t.fresh, fresh)
	fresh.setIDs()
	return t.note("enqueue", t.in.run(ctx, fresh.plainCall(t.Store)))
}

// Record implements sweep.Tx.
func (t *sweepTx) Record(ctx context.Context, event sweep.Event) error {
	return t.note("record", t.in.run(ctx, call{sql: t.sql.AddSweepEvent, args: []any{
		t.sweep, sqlstore.Micros(t.now), sqlstore.CleanText(event.By), sqlstore.CleanText(event.Action),
		string(event.From), string(event.To), sqlstore.CleanText(event.Note),
	}}))
}
