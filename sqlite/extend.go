package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Extend moves a waiting job's deadline to a later time and stores the progress that the job's
// target reports. It returns the same errors as Resolve.
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
	at, err := p.jobState(t.now)
	if err != nil {
		return 0, err
	}
	if err := at.Extend(e.Fence); err != nil {
		return 0, err
	}
	deadline, waits := at.Extended(e)
	if waits {
		if err := t.must(1, t.sql.Extend, deadline, p.id); err != nil {
			return 0, err
		}
	}
	if len(e.Told) == 0 {
		return deadline, nil
	}
	return deadline, t.must(1, t.sql.Tell, p.id, string(e.Told), e.Fence)
}
