package mysql

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
	how, locked := skipLocked, false
	if wait {
		how = waitForLock
		ctx = sqlstore.MayWait(ctx)
	}
	err := s.inTx(ctx, "steer", func(ctx context.Context, t *txn) error {
		var before sweep.Record
		var err error
		if before, locked, err = t.tryLockSweep(ctx, id, how); err != nil {
			return err
		}
		if !locked {
			return t.sweepsExist(ctx, []int64{id})
		}
		return t.steer(ctx, &before, act)
	})
	return locked && err == nil, err
}

// sweepsExist fails with ErrNotFound if one of some sweeps does not exist.
func (t *txn) sweepsExist(ctx context.Context, ids []int64) error {
	var found []int64
	if err := t.eachOf(ctx, collect(&found), t.sql.KnownSweeps, ids); err != nil {
		return err
	}
	known := make(map[int64]bool, len(found))
	for _, id := range found {
		known[id] = true
	}
	for _, id := range ids {
		if !known[id] {
			return sqlstore.NoSuchSweep(id)
		}
	}
	return nil
}

// steer acts upon a sweep that is locked.
func (t *txn) steer(ctx context.Context, before *sweep.Record, act func(ctx context.Context, sweep *sweep.Record, tx sweep.Tx) error) error {
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	tx, after := &sweepTx{t: t, sweep: before.ID, now: now}, *before
	if err := act(ctx, &after, tx); err != nil {
		return err
	}
	if tx.failed != nil { // whatever act makes of it
		return tx.failed
	}
	row, news, err := sqlstore.SteeredRow(before, &after)
	if err != nil || !news {
		return err
	}
	return t.must(ctx, 1, t.sql.KeepSweep, string(row.State), row.Version, row.Body, row.Status, before.ID)
}

// sweepTx is a transaction that steers a sweep, as a sweep.Tx.
type sweepTx struct {
	t      *txn
	sweep  int64
	now    int64 // the database's clock, read under the lock
	failed error // why it cannot be kept
}

// note notes that something failed: then nothing is kept.
func (s *sweepTx) note(verb string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", verb, err)
	s.failed = firstError(s.failed, err)
	return err
}

// Now implements sweep.Tx.
func (s *sweepTx) Now() time.Time { return sqlstore.Time(s.now) }

// Shards implements sweep.Tx.
func (s *sweepTx) Shards(ctx context.Context) ([]sweep.Shard, []fairlead.State, error) {
	shards, states, err := s.t.shardsAndStates(ctx, s.sweep)
	return shards, states, s.note("shards", err)
}

// Cut implements sweep.Tx.
func (s *sweepTx) Cut(ctx context.Context, shards []sweep.Shard) error {
	return s.note("cut", s.t.cut(ctx, s.sweep, shards))
}

// Forget implements sweep.Tx.
func (s *sweepTx) Forget(ctx context.Context) error {
	_, err := s.t.exec(ctx, s.t.sql.DropFailed, s.sweep)
	return s.note("forget", err)
}

// Again implements sweep.Tx.
func (s *sweepTx) Again(ctx context.Context, indexes []int64) ([]int64, error) {
	unknown, err := s.t.again(ctx, s.sweep, indexes)
	return unknown, s.note("again", err)
}

// Grant implements sweep.Tx.
func (s *sweepTx) Grant(ctx context.Context, shards []sweep.Shard) error {
	return s.note("grant", s.t.grant(ctx, s.sweep, shards))
}

// Employ implements sweep.Tx.
func (s *sweepTx) Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error {
	if err := s.Enqueue(ctx, jobs); err != nil {
		return err
	}
	return s.note("employ", s.t.employ(ctx, s.sweep, numbers, jobs))
}

// Enqueue implements sweep.Tx.
func (s *sweepTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	ids, err := s.t.prepare(ctx, jobs)
	if err == nil {
		err = s.t.idsTaken(s.t.enqueue(ctx, jobs, ids))
	}
	if err == nil {
		setIDs(jobs, ids)
	}
	return s.note("enqueue", err)
}

// Record implements sweep.Tx.
func (s *sweepTx) Record(ctx context.Context, event sweep.Event) error {
	return s.note("record", s.t.must(ctx, 1, s.t.sql.AddSweepEvent, s.sweep, s.now, sqlstore.CleanText(event.By), sqlstore.CleanText(event.Action),
		string(event.From), string(event.To), sqlstore.CleanText(event.Note)))
}
