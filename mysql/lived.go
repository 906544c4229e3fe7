package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// uncrashChunk is how many crashes one transaction takes back: few enough to keep it
// short.
const uncrashChunk = 50

// Lived records that the node's process is alive, and reverses the crashes that were
// attributed to the node.
func (s *Store) Lived(ctx context.Context, node fairlead.NodeID) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if _, err := s.execQuickly(ctx, s.sql.MarkLived, node); err != nil {
		return fmt.Errorf("record that a node was alive: %w", err)
	}
	for {
		left := 0
		err := s.inTx(ctx, "withdraw crashes", func(ctx context.Context, t *txn) (err error) {
			left, err = t.takeCrashesBack(ctx, int64(node))
			return err
		})
		if err != nil || left < uncrashChunk {
			return err
		}
	}
}

// takeCrashesBack takes some crashes of a node back and returns how many.
func (t *txn) takeCrashesBack(ctx context.Context, node int64) (int, error) {
	type crash struct{ id, run int64 }
	var counted []crash
	err := t.each(ctx, func(row *sql.Rows) error {
		var c crash
		err := row.Scan(&c.id, &c.run)
		counted = append(counted, c)
		return err
	}, t.sql.LockReaped, node, uncrashChunk)
	if err != nil || len(counted) == 0 {
		return 0, err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return 0, err
	}
	reason, text := verdict.Lived(node)
	m, taken := moves{now: now}, tuples{}
	for _, c := range counted {
		taken.add().ints(node, c.id, c.run).end()
		if _, err := t.exec(ctx, t.sql.Relabel, reason, text, c.id, c.run); err != nil {
			return 0, err
		}
		if err := t.uncrash(ctx, &m, c.id); err != nil {
			return 0, err
		}
	}
	if _, err := t.execRows(ctx, t.sql.ForgetReaped, &taken); err != nil {
		return 0, err
	}
	return len(counted), t.write(ctx, &m)
}

// uncrash takes a crash of a job back, unless the job has ended.
func (t *txn) uncrash(ctx context.Context, m *moves, id int64) error {
	p, err := t.locate(ctx, id)
	if errors.Is(err, fairlead.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	switch p.state {
	case fairlead.Scheduled:
		return t.must(ctx, 1, t.sql.UncrashLater, id)
	case fairlead.Parked:
		return t.must(ctx, 1, t.sql.UncrashParked, p.gate, p.turn, p.startBy, id)
	case fairlead.Running:
		return t.must(ctx, 1, t.sql.UncrashRunning, id)
	case fairlead.Waiting:
		return t.must(ctx, 1, t.sql.UncrashWaiting, id)
	case fairlead.Ready: // it may no longer be a suspect
		p.crashes = int64(verdict.Uncrashed(int(p.crashes)))
		m.await(p, m.now)
	}
	return nil
}
