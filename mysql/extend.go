package mysql

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Extend gives a waiting job more time and keeps what is told of it.
func (s *Store) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	ctx = sqlstore.MayWait(ctx)
	deadline := int64(0)
	err := s.operate(ctx, "extend", extension.ID, func(ctx context.Context, t *txn, p *placed, m *moves) (err error) {
		deadline, err = t.extend(ctx, p, &extension, m.now)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return sqlstore.Time(deadline), nil
}

func (t *txn) extend(ctx context.Context, p *placed, e *fairlead.Extension, now int64) (deadline int64, err error) {
	if err := p.extendable(e.Fence, now); err != nil {
		return 0, err
	}
	if p.state == fairlead.Waiting {
		deadline = max(p.deadline, now+e.For.Microseconds())
		if _, err := t.exec(ctx, t.sql.Extend, deadline, p.id); err != nil {
			return 0, err
		}
	}
	if len(e.Told) == 0 {
		return deadline, nil
	}
	_, err = t.exec(ctx, t.sql.Tell, p.id, []byte(e.Told), e.Fence)
	return deadline, err
}

// extendable tells whether a job is one of which something can be told.
func (p *placed) extendable(fence, now int64) error {
	late := p.state == fairlead.Waiting && now > p.deadline || p.state == fairlead.Failed && p.reason == fairlead.ReasonDeadline
	switch {
	case p.fence != fence || p.fence == 0: // a job that never ran has none
		return sqlstore.LeaseLost(p.id)
	case late:
		return expired(p)
	case p.state.Final() || p.answer.Valid:
		return sqlstore.AnsweredAlready(p.id)
	}
	return nil
}
