package lists

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

const (
	calendar  = "holidays"
	firedOnes = 100 // schedules with a few runs each
)

func (s *stock) addCalendar(ctx context.Context) error {
	_, err := s.schedules.PutCalendar(ctx, schedule.Calendar{Name: calendar, Dates: []string{"2026-12-25"}})
	return err
}

// addSchedules stores some schedules, and copies them until there is one for every ten
// jobs.
func (s *stock) addSchedules(ctx context.Context) (err error) {
	models := min(1000, s.side/5)
	for i := range models {
		one := schedule.Schedule{
			Name: fmt.Sprintf("schedule-%06d", i), Disabled: i%10 == 0,
			Job: fairlead.Job{Kind: commonKind, Tenant: fmt.Sprint("tenant-", i%s.tenants)},
		}
		switch i % 4 {
		case 0:
			one.Cron = "*/5 * * * *"
		case 1:
			one.Cron, one.Zone = fmt.Sprintf("%d 3 * * *", i%60), "Europe/Berlin"
		default:
			one.Every, one.StartsAt = 24*time.Hour, time.Now().Add(24*time.Hour)
		}
		if s.schedule, err = s.schedules.Put(ctx, one); err != nil {
			return err
		}
		if i == 0 {
			s.earliest = s.schedule.ID
		}
	}
	for round := 1; models*(round+1) <= s.jobs/10; round++ {
		copies := scheduleCopy{
			last: s.schedule.ID, shift: int64(round) * s.schedule.ID, later: int64(round) * time.Second.Microseconds(),
			name: fmt.Sprintf("schedule-copy-%04d-", round),
		}
		if err := s.into.copySchedules(ctx, copies); err != nil {
			return err
		}
	}
	return nil
}

// addRuns turns the newest jobs into runs: most of one schedule, and a few of each of the
// schedules that are listed first.
func (s *stock) addRuns(ctx context.Context) error {
	columns, others := s.into.fires()
	runs := &table{into: s.into, name: "fire", columns: columns}
	for i := range s.side {
		id := int64(s.jobs - i)
		schedule := s.schedule.ID
		if i%10 == 0 {
			schedule = s.earliest + int64(i/10%firedOnes)
		}
		row := append([]any{id, schedule, sqlstore.Micros(s.began.Add(time.Duration(id) * time.Second)), 0, 0, "cron", ""}, others...)
		if err := runs.add(ctx, row...); err != nil {
			return err
		}
	}
	return runs.flush(ctx)
}
