package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Reap marks nodes whose leases have expired as dead, and takes back jobs from dead and
// unknown nodes.
func (s *Store) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	var reaped driver.Reaped
	// A commit of its own: from here on none of these nodes can beat or claim.
	err := s.run(ctx, call{sql: s.sql.MarkDead, each: func(row sqlstore.Scanner) error { return row.Scan(&reaped.Nodes) }})
	if err != nil {
		return driver.Reaped{}, fmt.Errorf("reap: mark dead nodes: %w", err)
	}
	var lanes []int32
	freed := false
	err = s.run(ctx, call{sql: s.sql.Reap, args: []any{max(0, reap.Limit), reap.MaxCrashes, reap.Patience.Microseconds()}, each: func(row sqlstore.Scanner) error {
		var lane int32
		var fate string
		var count, slots int
		if err := row.Scan(&lane, &fate, &count, &slots); err != nil {
			return err
		}
		freed = freed || slots > 0
		switch fate {
		case "ready":
			lanes, reaped.Jobs = append(lanes, lane), reaped.Jobs+count
		case "poisoned":
			reaped.Poisoned += count
		case "cancelled":
			reaped.Cancelled += count
		}
		return nil
	}})
	if err != nil {
		return driver.Reaped{Nodes: reaped.Nodes}, fmt.Errorf("reap: %w", err)
	}
	if freed {
		s.notifier.freed()
	}
	s.notifier.work(lanes...)
	if reaped.Poisoned+reaped.Cancelled > 0 {
		s.admitSoon(ctx)
	}
	return reaped, nil
}
