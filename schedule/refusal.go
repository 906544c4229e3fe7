package schedule

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// What keeps a schedule or a calendar from being stored has the same words whether it is
// stored or only asked what would be. These functions are for stores.

// NameTaken returns an ErrConflict: another schedule has the name.
func NameTaken(name string) error {
	return fmt.Errorf("a schedule with the name %q already exists: %w", name, fairlead.ErrConflict)
}

// VersionChanged returns an ErrConflict: the version of the schedule is no longer
// current.
func VersionChanged(name string) error {
	return fmt.Errorf("schedule %q was changed by another caller: %w", name, fairlead.ErrConflict)
}

// CalendarMissing returns an ErrInvalid: the schedule's calendar does not exist.
func CalendarMissing(name string) error {
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "calendar", Message: fmt.Sprintf("%q does not exist; create it first", name),
	}}}
}

// CheckVersion compares the calendar's Version with the stored version, if the calendar
// exists. It returns ErrConflict or ErrNotFound if they do not match.
func (c *Calendar) CheckVersion(version int64, exists bool) error {
	switch {
	case !exists && c.Version != 0:
		return fmt.Errorf("calendar %q: %w", c.Name, fairlead.ErrNotFound)
	case exists && c.Version == 0:
		return fmt.Errorf("calendar %q already exists: %w", c.Name, fairlead.ErrConflict)
	case exists && c.Version != version:
		return fmt.Errorf("calendar %q was changed by another caller: %w", c.Name, fairlead.ErrConflict)
	}
	return nil
}
