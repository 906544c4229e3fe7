package sqlstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// ScheduleDeleted is the error text of a queued run that ends because its schedule was
// deleted.
const ScheduleDeleted = "its schedule was deleted"

// ScanSchedule reads a schedule from the columns id, name, enabled, body, version, created_at,
// updated_at, due, fire_at, last_job, last_due, last_trigger, last_number, last_state,
// last_ended_at, skipped, standing, calendar and calendar_seen, followed by the calendar's
// current version and whether the schedule was deleted. Columns about the last run are 0 or empty if there is no last run, and
// columns about the calendar are if there is no calendar. An unreadable body is not an error;
// the schedule reports it.
func ScanSchedule(row Scanner) (schedule.Record, error) {
	return (*ScheduleBodies)(nil).ScanSchedule(row)
}

// ScanSchedule works like the function ScanSchedule, but uses the cache. The returned schedule
// must not be modified.
func (b *ScheduleBodies) ScanSchedule(row Scanner) (s schedule.Record, err error) {
	var id, version, created, updated, due, fireAt, lastDue, lastEnded, calendarSeen, calendarVersion int64
	var name, calendar string
	var body, standing []byte
	var enabled bool
	var last schedule.Fire
	err = row.Scan(&id, &name, &enabled, &body, &version, &created, &updated, &due, &fireAt,
		&last.Job, &lastDue, &last.Trigger, &last.Number, &last.State, &lastEnded, &s.Skipped, &standing,
		&calendar, &calendarSeen, &calendarVersion, &s.Deleted)
	if err != nil {
		return s, err
	}
	if s.Schedule, err = b.read(id, body); err != nil {
		s.Schedule = schedule.Schedule{Broken: "cannot be read: " + err.Error()}
	}
	s.ID, s.Name, s.Version, s.Disabled = id, name, version, !enabled
	s.CreatedAt, s.UpdatedAt, s.Due, s.FireAt = Time(created), Time(updated), Time(due), Time(fireAt)
	if last.Job != 0 {
		last.Schedule, last.Due, last.EndedAt = id, Time(lastDue), Time(lastEnded)
		s.Last = &last
	}
	s.Standing = decodePlanState(standing)
	s.Calendar, s.CalendarVersion, s.Outdated = calendar, calendarSeen, calendarSeen != calendarVersion
	return s, nil
}

// scheduleBody holds the declared fields of a schedule that have no column of their own.
// Times are in microseconds, durations in nanoseconds.
type scheduleBody struct {
	Description    string                `json:"description,omitempty"`
	Cron           string                `json:"cron,omitempty"`
	Every          time.Duration         `json:"every,omitempty"`
	Delay          time.Duration         `json:"delay,omitempty"`
	Daily          string                `json:"daily,omitempty"`
	At             int64                 `json:"at,omitempty"`
	Zone           string                `json:"zone,omitempty"`
	StartsAt       int64                 `json:"starts_at,omitempty"`
	EndsAt         int64                 `json:"ends_at,omitempty"`
	Jitter         time.Duration         `json:"jitter,omitempty"`
	Calendar       string                `json:"calendar,omitempty"`
	Job            template              `json:"job"`
	Overlap        schedule.Overlap      `json:"overlap,omitempty"`
	AfterFailure   schedule.AfterFailure `json:"after_failure,omitempty"`
	MaxConcurrency int                   `json:"max_concurrency,omitempty"`
	Concurrency    schedule.Concurrency  `json:"concurrency,omitempty"`
	QueueDepth     int                   `json:"queue_depth,omitempty"`
	CatchUp        schedule.CatchUp      `json:"catch_up,omitempty"`
	CatchUpLimit   int                   `json:"catch_up_limit,omitempty"`
	CatchUpWindow  time.Duration         `json:"catch_up_window,omitempty"`
	Reason         string                `json:"reason,omitempty"`
	Alert          *scheduleAlert        `json:"alert,omitempty"`
}

// EncodeSchedule returns a schedule's declared fields as JSON.
func EncodeSchedule(s *schedule.Schedule) ([]byte, error) {
	body, err := json.Marshal(scheduleBody{
		Description: s.Description, Cron: s.Cron, Every: s.Every, Delay: s.Delay, Daily: s.Daily, At: Micros(s.At),
		Zone: s.Zone, StartsAt: Micros(s.StartsAt), EndsAt: Micros(s.EndsAt), Jitter: s.Jitter, Calendar: s.Calendar,
		Job:     templateOf(&s.Job),
		Overlap: s.Overlap, AfterFailure: s.AfterFailure, MaxConcurrency: s.MaxConcurrency, Concurrency: s.Concurrency,
		QueueDepth: s.QueueDepth, CatchUp: s.CatchUp, CatchUpLimit: s.CatchUpLimit, CatchUpWindow: s.CatchUpWindow, Reason: s.Reason,
		Alert: encodeAlert(s.Alert),
	})
	if err != nil {
		return nil, fmt.Errorf("encode schedule %q: %w", s.Name, err)
	}
	return body, nil
}

// decodeSchedule decodes the result of EncodeSchedule.
func decodeSchedule(body []byte, s *schedule.Schedule) error {
	var b scheduleBody
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	s.Description, s.Cron, s.Every, s.Delay, s.Daily, s.At = b.Description, b.Cron, b.Every, b.Delay, b.Daily, Time(b.At)
	s.Zone, s.StartsAt, s.EndsAt, s.Jitter, s.Calendar = b.Zone, Time(b.StartsAt), Time(b.EndsAt), b.Jitter, b.Calendar
	s.Overlap, s.AfterFailure, s.MaxConcurrency, s.Concurrency = b.Overlap, b.AfterFailure, b.MaxConcurrency, b.Concurrency
	s.QueueDepth, s.CatchUp, s.CatchUpLimit, s.CatchUpWindow, s.Reason = b.QueueDepth, b.CatchUp, b.CatchUpLimit, b.CatchUpWindow, b.Reason
	s.Alert = b.Alert.decode()
	s.Job = b.Job.job()
	return nil
}

// SchedulePage returns the page size for a list of schedules.
func SchedulePage(f schedule.Filter) int { return page(f.Limit) }

// FirePage returns the page size for a list of runs.
func FirePage(f schedule.FireFilter) int { return page(f.Limit) }

func page(limit int) int {
	if limit <= 0 {
		return fairlead.DefaultPage
	}
	return limit
}

// NoSuchSchedule returns an ErrNotFound for a schedule ID.
func NoSuchSchedule(id int64) error {
	return fmt.Errorf("schedule %d: %w", id, fairlead.ErrNotFound)
}
