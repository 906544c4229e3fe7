package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Reap declares nodes dead whose lease has run out, and takes back jobs of dead
// or unknown nodes.
func (s *Store) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var reaped driver.Reaped
	// By itself: from here on none of them can beat or claim any more.
	result, err := s.execQuickly(ctx, s.sql.MarkDead)
	if err != nil {
		return reaped, fmt.Errorf("reap: %w", err)
	}
	dead, err := result.RowsAffected()
	if err != nil {
		return reaped, fmt.Errorf("reap: %w", err)
	}
	reaped.Nodes = int(dead)
	err = s.takeBack(ctx, reap, &reaped)
	return reaped, err
}

// takeBack goes through the orphans in order of id. Those that another reaper
// has locked are its own.
func (s *Store) takeBack(ctx context.Context, reap driver.Reap, reaped *driver.Reaped) error {
	after, left := int64(0), reap.Limit
	for left > 0 {
		chunk := min(keepChunk, left)
		orphans, last, err := s.orphans(ctx, after, reap, chunk)
		if err != nil {
			return fmt.Errorf("reap: %w", err)
		}
		if len(orphans) == 0 {
			return nil
		}
		var part driver.Reaped
		err = s.inTx(ctx, "reap", func(ctx context.Context, t *txn) (err error) {
			part, err = t.reap(ctx, orphans, reap.MaxCrashes)
			return err
		})
		if err != nil {
			return err
		}
		reaped.Jobs += part.Jobs
		reaped.Poisoned += part.Poisoned
		reaped.Cancelled += part.Cancelled
		left -= part.Jobs + part.Poisoned + part.Cancelled
		after = last
	}
	return nil
}

// orphans lists running jobs of dead or unknown nodes with these nodes, and
// the last of the jobs.
func (s *Store) orphans(ctx context.Context, after int64, reap driver.Reap, limit int) (orphans map[int64]int64, last int64, err error) {
	orphans = map[int64]int64{}
	err = each(ctx, s.db, func(row *sql.Rows) error {
		var id, node int64
		if err := row.Scan(&id, &node); err != nil {
			return err
		}
		orphans[id], last = node, id
		return nil
	}, s.sql.Orphans, after, reap.MaxCrashes, reap.Patience.Microseconds(), limit)
	return orphans, last, err
}

// reap takes back those of the jobs that are still leased to these nodes.
func (t *txn) reap(ctx context.Context, orphans map[int64]int64, maxCrashes int) (driver.Reaped, error) {
	locked, err := t.running(ctx, t.sql.LockOrphans, slices.Sorted(maps.Keys(orphans)))
	if err != nil {
		return driver.Reaped{}, err
	}
	for id, p := range locked {
		if p.node != orphans[id] { // leased anew since
			delete(locked, id)
		}
	}
	if err := t.readOrder(ctx, locked); err != nil {
		return driver.Reaped{}, err
	}
	orphaned, err := t.livedAmong(ctx, locked)
	if err != nil {
		return driver.Reaped{}, err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return driver.Reaped{}, err
	}
	var reaped driver.Reaped
	m, counted := moves{now: now}, tuples{}
	for _, p := range locked {
		loss := m.takeBack(p, orphaned[p.node], maxCrashes)
		loss.Count(&reaped)
		if loss.Revocable {
			counted.add().ints(p.node, p.id, p.attempt, now).end()
		}
	}
	if err := t.insert(ctx, t.sql.AddReaped, &counted); err != nil {
		return driver.Reaped{}, err
	}
	return reaped, t.write(ctx, &m)
}

// takeBack takes a job from a node that died, or lost its lease and lived. Of the orphan
// what its node is known by is given.
func (m *moves) takeBack(p *placed, orphan verdict.Orphan, maxCrashes int) verdict.Loss {
	orphan.Wish, orphan.CancelOnCrash, orphan.Crashes = p.wished(), p.flags&sqlstore.FlagCancelOnCrash != 0, int(p.crashes)
	loss := verdict.TakeBack(orphan, maxCrashes)
	m.record(p, loss.RunReason, loss.RunError)
	p.crashes = int64(loss.Crashes)
	m.become(p, &loss.Next)
	return loss
}
