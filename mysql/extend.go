package mysql

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Extend extends a waiting job's deadline and stores the progress that the job's target
// reports. It returns the same errors as Resolve.
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
	at, err := p.jobState(now)
	if err != nil {
		return 0, err
	}
	if err := at.Extend(e.Fence); err != nil {
		return 0, err
	}
	deadline, waits := at.Extended(e)
	if waits {
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
