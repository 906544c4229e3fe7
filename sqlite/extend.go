package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Extend gives a waiting job more time and keeps what is told of it.
func (s *Store) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	extension.Told = slices.Clone(extension.Told)
	deadline, err := inTx(ctx, s, "extend", func(t *txn) (int64, error) { return t.extend(&extension) })
	return sqlstore.Time(deadline), err
}

func (t *txn) extend(e *fairlead.Extension) (deadline int64, err error) {
	p, err := t.locate(e.ID)
	if err != nil {
		return 0, err
	}
	if err := t.extendable(p, e.Fence); err != nil {
		return 0, err
	}
	if p.state == fairlead.Waiting {
		deadline = max(p.deadline, t.now+e.For.Microseconds())
		if err := t.must(1, t.sql.Extend, deadline, p.id); err != nil {
			return 0, err
		}
	}
	if len(e.Told) == 0 {
		return deadline, nil
	}
	return deadline, t.must(1, t.sql.Tell, p.id, string(e.Told), e.Fence)
}

// extendable tells whether a job is one of which something can be told.
func (t *txn) extendable(p *placed, fence int64) error {
	late := p.state == fairlead.Waiting && t.now > p.deadline || p.state == fairlead.Failed && p.reason == fairlead.ReasonDeadline
	switch {
	case p.fence != fence || p.fence == 0: // a job that never ran has none
		return sqlstore.LeaseLost(p.id)
	case late:
		return sqlstore.DeadlinePassed(p.id)
	case p.state.Final() || p.answer.Valid:
		return sqlstore.AnsweredAlready(p.id)
	}
	return nil
}
