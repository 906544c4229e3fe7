package sqlstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// calendarBody is what is declared of a calendar beside its name. When it was
// changed stands here and not in a column: a program that knows nothing of it
// leaves it away when it replaces the calendar.
type calendarBody struct {
	Description string               `json:"description,omitempty"`
	Weekdays    []time.Weekday       `json:"weekdays,omitempty"`
	Dates       []string             `json:"dates,omitempty"`
	Ranges      []schedule.DateRange `json:"ranges,omitempty"`
	UpdatedAt   int64                `json:"updated_at,omitempty"` // microseconds
}

// EncodeCalendar is what is declared of a calendar, and its UpdatedAt, as JSON.
func EncodeCalendar(c *schedule.Calendar) ([]byte, error) {
	body, err := json.Marshal(calendarBody{Description: c.Description, Weekdays: c.Weekdays, Dates: c.Dates, Ranges: c.Ranges, UpdatedAt: Micros(c.UpdatedAt)})
	if err != nil {
		return nil, fmt.Errorf("encode calendar %q: %w", c.Name, err)
	}
	return body, nil
}

// ScanCalendar reads name, body and version.
func ScanCalendar(row Scanner) (c schedule.Calendar, err error) {
	var body []byte
	if err := row.Scan(&c.Name, &body, &c.Version); err != nil {
		return c, err
	}
	var b calendarBody
	if err := json.Unmarshal(body, &b); err != nil {
		return c, fmt.Errorf("calendar %q: %w", c.Name, err)
	}
	c.Description, c.Weekdays, c.Dates, c.Ranges = b.Description, b.Weekdays, b.Dates, b.Ranges
	c.UpdatedAt = Time(b.UpdatedAt)
	return c, nil
}

// CheckCalendarVersion returns the ErrConflict or ErrNotFound of a calendar that
// is not what its caller believes it to be.
func CheckCalendarVersion(c schedule.Calendar, version int64, exists bool) error {
	switch {
	case !exists && c.Version != 0:
		return NoSuchCalendar(c.Name)
	case exists && c.Version == 0:
		return fmt.Errorf("calendar %q exists already: %w", c.Name, fairlead.ErrConflict)
	case exists && c.Version != version:
		return fmt.Errorf("calendar %q was changed by somebody else: %w", c.Name, fairlead.ErrConflict)
	}
	return nil
}

// NoSuchCalendar is the ErrNotFound of a calendar's name.
func NoSuchCalendar(name string) error {
	return fmt.Errorf("calendar %q: %w", name, fairlead.ErrNotFound)
}

// CalendarInUse is the ErrConflict of a calendar that a schedule needs.
func CalendarInUse(name, schedule string) error {
	return fmt.Errorf("calendar %q is named by schedule %q: %w", name, schedule, fairlead.ErrConflict)
}

// CalendarMissing is the ErrInvalid of a schedule whose calendar does not exist.
func CalendarMissing(name string) error {
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "calendar", Message: fmt.Sprintf("%q does not exist; create it first", name),
	}}}
}
