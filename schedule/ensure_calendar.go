package schedule

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/ensure"
)

// EnsuredCalendar is the result of EnsureCalendar.
type EnsuredCalendar struct {
	Calendar                       // the calendar as it is stored now
	Created  bool                  // no calendar of this name existed before
	Changed  []fairlead.Difference // fields that were set back to their declared values
}

// EnsureCalendar creates the declared calendar, or restores the stored calendar of the same
// name to the declared state, as Ensure does for schedules. It replaces each list of
// days that is not empty, which removes days that an operator has added. An empty list leaves
// the stored list as it is. Call EnsureCalendar before you call Ensure for schedules that use
// the calendar. EnsureCalendar returns ErrInvalid under the same conditions as PutCalendar.
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
