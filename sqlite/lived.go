package sqlite

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Lived records that a node's process is still alive, and takes back the crashes that were
// counted because of the node.
func (s *Store) Lived(ctx context.Context, node fairlead.NodeID) error {
	_, err := inTx(ctx, s, "record that a node was alive", func(t *txn) (none, error) {
		if _, err := t.exec(t.sql.MarkLived, int64(node)); err != nil {
			return none{}, err
		}
		type crash struct{ id, run int64 }
		var counted []crash
		err := t.each(t.sql.ReapedFrom, []any{int64(node)}, func(row sqlstore.Scanner) error {
			var c crash
			err := row.Scan(&c.id, &c.run)
			counted = append(counted, c)
			return err
		})
		if err != nil {
			return none{}, err
		}
		reason, text := verdict.Lived(int64(node))
		for _, c := range counted {
			if _, err := t.exec(t.sql.Relabel, reason, text, c.id, c.run); err != nil {
				return none{}, err
			}
			if err := t.uncrash(c.id); err != nil {
				return none{}, err
			}
		}
		_, err = t.exec(t.sql.ForgetReaped, int64(node))
		return none{}, err
	})
	return err
}

// uncrash takes a crash of a job back, unless the job has ended.
func (t *txn) uncrash(id int64) error {
	p, err := t.locate(id)
	if errors.Is(err, fairlead.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	switch p.state {
	case fairlead.Scheduled:
		return t.must(1, t.sql.UncrashLater, id)
	case fairlead.Parked:
		return t.must(1, t.sql.UncrashParked, p.gate, p.turn, p.startBy, id)
	case fairlead.Running:
		return t.must(1, t.sql.UncrashRunning, id)
	case fairlead.Waiting:
		return t.must(1, t.sql.UncrashWaiting, id)
	case fairlead.Ready: // it may no longer be a suspect
		if err := t.leave(p); err != nil {
			return err
		}
		p.crashes = verdict.Uncrashed(p.crashes)
		return t.enter(p, t.now)
	}
	return nil
}
