package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// never is when queued runs are due.
var never = sqlstore.Micros(fairlead.Never)

// Fires returns the matching scheduled runs, newest first.
func (s *Store) Fires(ctx context.Context, filter schedule.FireFilter) ([]schedule.Fire, error) {
	text, below := s.sql.FiresOfAll, filter.Below
	switch {
	case len(filter.Jobs) > 0:
		text = s.sql.FiresOfJobs
	case filter.Schedule != 0:
		text = s.sql.FiresOfSchedule
	}
	if below == 0 {
		below = math.MaxInt64
	}
	var fires []schedule.Fire
	c := firesCall(&fires, text, below, sqlstore.FirePage(filter), never, distinct(filter.Jobs), filter.Schedule)
	if err := s.run(ctx, c); err != nil {
		return nil, fmt.Errorf("fires: %w", err)
	}
	return fires, nil
}

// openFiresCall reads the runs of schedules that were not seen to have ended.
func (s *Store) openFiresCall(fires *[]schedule.Fire, schedules []int64) call {
	return firesCall(fires, s.sql.OpenFires, schedules)
}

func firesCall(fires *[]schedule.Fire, text string, args ...any) call {
	return call{sql: text, args: args, restart: func() { *fires = nil }, each: func(row sqlstore.Scanner) error {
		fire, err := sqlstore.ScanFire(row)
		*fires = append(*fires, fire)
		return err
	}}
}

// distinct are values of a filter, each once; nil if there are none.
func distinct[T int | int64 | string](values []T) []T {
	if len(values) == 0 {
		return nil
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return slices.Compact(values)
}
