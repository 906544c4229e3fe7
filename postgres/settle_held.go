package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// lockLimit is how long Settle and Save wait for a row that another transaction holds.
	// The store's own transactions are shorter; a caller's may stay open for long.
	lockLimit = 100 * time.Millisecond
	// mostLockWaits is how many times one call of Settle waits that long, at most.
	mostLockWaits = 10
)

// errHeld is the error of a call that would have to wait for another transaction for
// longer than lockLimit.
var errHeld = fmt.Errorf("%w: an open transaction holds a row of the job", fairlead.ErrUnavailable)

// settleOpen settles all that is open. Nearly always no other transaction holds any of
// the rows, and nothing has to be locked beforehand. Otherwise it settles what is free.
func (s *Store) settleOpen(ctx context.Context, all *settling) error {
	err := all.settle(ctx, briefRunner{s})
	if !errors.Is(err, errHeld) {
		return err
	}
	waits := 1
	return s.settleFree(ctx, all, all.open, &waits)
}

// settleFree settles those of the open settlements whose rows no other transaction
// holds, and answers held for the others. A settlement may also need another row than
// that of its job. Which one cannot be told, so the settlements are halved until that
// one is alone.
func (s *Store) settleFree(ctx context.Context, all *settling, open []int, waits *int) error {
	var part *settling
	var held map[driver.Held]bool
	err := s.inTx(ctx, func(ctx context.Context, r runner) (err error) {
		r = boundRunner{r}
		if err := r.run(ctx, s.boundLocks()); err != nil {
			return err
		}
		part = newSettling(s, all.asked)
		if held, err = part.passOver(ctx, r, open); err != nil {
			return err
		}
		for _, i := range open {
			if !held[part.lease(i)] {
				part.open = append(part.open, i)
			}
		}
		return part.settle(ctx, r)
	})
	switch {
	case err == nil:
		for _, i := range open {
			if all.settled[i] = part.settled[i]; held[all.lease(i)] {
				all.settled[i] = fairlead.SettledHeld
			}
		}
		all.tell(part)
		return nil
	case !errors.Is(err, errHeld):
		return err
	}
	if *waits++; len(open) == 1 || *waits > mostLockWaits {
		for _, i := range open {
			all.settled[i] = fairlead.SettledHeld
		}
		return nil
	}
	half := len(open) / 2
	return errors.Join(s.settleFree(ctx, all, open[:half], waits), s.settleFree(ctx, all, open[half:], waits))
}

// passOver locks the running jobs of settlements that no other transaction has locked,
// and returns the leases of the others.
func (t *settling) passOver(ctx context.Context, r runner, positions []int) (held map[driver.Held]bool, err error) {
	ids, fences := t.names(positions)
	err = r.run(ctx, call{
		sql: t.sql.PassOver, args: []any{ids, fences}, restart: func() { held = map[driver.Held]bool{} },
		each: func(row sqlstore.Scanner) error {
			var lease driver.Held
			err := row.Scan(&lease.ID, &lease.Fence)
			held[lease] = true
			return err
		},
	})
	return held, err
}

// briefRunner is run for statements that wait only briefly for the rows of other
// transactions. It fails with errHeld if that is not enough.
type briefRunner struct {
	*Store
}

func (r briefRunner) run(ctx context.Context, calls ...call) error {
	return r.retry(ctx, func(ctx context.Context) error {
		return heldOr(r.sendOnce(ctx, r.pool, call{sql: r.pin() + r.sql.BoundLocks}, calls))
	})
}

// boundLocks bounds the waits of the statements that follow in the same transaction.
func (s *Store) boundLocks() call { return call{sql: s.sql.Pin + s.sql.BoundLocks} }

// boundRunner runs statements inside a transaction whose waits for locks are bounded.
type boundRunner struct {
	in runner
}

func (r boundRunner) run(ctx context.Context, calls ...call) error {
	return heldOr(r.in.run(ctx, calls...))
}

// heldOr returns errHeld if a statement waited for a lock for too long.
func heldOr(err error) error {
	const lockNotAvailable = "55P03"
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.Code == lockNotAvailable {
		return errHeld
	}
	return err
}
