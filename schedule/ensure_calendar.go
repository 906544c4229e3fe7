package schedule

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/ensure"
)

// EnsuredCalendar is what EnsureCalendar found, and what it did.
type EnsuredCalendar struct {
	Calendar                       // as it is stored now
	Created  bool                  // there was none of this name
	Changed  []fairlead.Difference // fields that were not as declared, and are now
}

// EnsureCalendar creates a calendar, or brings the one of its name to the declared state,
// as Ensure does with schedules. Each list of days that is set is owned as a whole: days
// that an operator has added to it are removed. A list that is empty stays as it is stored.
// Call it before Ensure of the schedules that name the calendar.
//
// It fails with ErrInvalid as PutCalendar does.
func (c *Client) EnsureCalendar(ctx context.Context, declared Calendar) (EnsuredCalendar, error) {
	return ensure.Retry(func() (EnsuredCalendar, error) { return c.ensureCalendar(ctx, declared) }, fairlead.ErrConflict, fairlead.ErrNotFound)
}

func (c *Client) ensureCalendar(ctx context.Context, declared Calendar) (EnsuredCalendar, error) {
	calendars, err := c.store.Calendars(ctx)
	if err != nil {
		return EnsuredCalendar{}, err
	}
	var stored Calendar
	at := slices.IndexFunc(calendars, func(calendar Calendar) bool { return calendar.Name == declared.Name })
	if at >= 0 {
		stored = calendars[at]
	}
	owned := ensure.Owned(declared, "Version", "UpdatedAt")
	merged := stored
	ensure.Copy(&merged, &declared, owned)
	if err := NormalizeCalendar(&merged); err != nil {
		return EnsuredCalendar{}, err
	}
	changed := ensure.Differences[fairlead.Difference](&stored, &merged, owned)
	if len(changed) == 0 {
		return EnsuredCalendar{Calendar: stored}, nil
	}
	now, err := c.store.PutCalendar(ctx, merged)
	if err != nil {
		return EnsuredCalendar{}, err
	}
	if at < 0 {
		changed = nil
	}
	err = access.RecordEnsured(ctx, c.store, "EnsureCalendar", "calendar:"+declared.Name, "", changed)
	return EnsuredCalendar{Calendar: now, Created: at < 0, Changed: changed}, err
}
