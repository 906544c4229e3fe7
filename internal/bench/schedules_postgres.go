package bench

import (
	"context"
	"fmt"
)

// copySchedules implements scheduleCopier. All copies have the body of the model, because
// the body is not read before they are due.
func (s *postgresServer) copySchedules(ctx context.Context, model int64, first, end int) error {
	const sql = `
		with made as (
			insert into fairlead_schedule (version, created_at, updated_at, deleted_at, lane, name, tenant, calendar, body)
			select version, created_at, updated_at, deleted_at, lane, name || ' copy ' || n, tenant, calendar, body
			from fairlead_schedule, generate_series($2::int, $3::int - 1) n
			where id = $1
			returning id
		)
		insert into fairlead_cursor (schedule, due, fire_at, last_job, last_due, last_ended_at, last_number, enabled, skipped, last_trigger, last_state)
		select made.id, due + 1000 * (made.id - $1), fire_at + 1000 * (made.id - $1), 0, 0, 0, 0, enabled, false, '', ''
		from fairlead_cursor, made
		where schedule = $1`
	if _, err := s.conn.Exec(ctx, sql, model, first, end); err != nil {
		return fmt.Errorf("copy schedules: %w", err)
	}
	return nil
}

// tidySchedules implements scheduleCopier.
func (s *postgresServer) tidySchedules(ctx context.Context) error {
	for _, sql := range []string{"vacuum analyze fairlead_schedule", "vacuum analyze fairlead_cursor", "checkpoint"} {
		if _, err := s.conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("tidy up before a measurement: %w", err)
		}
	}
	return nil
}
