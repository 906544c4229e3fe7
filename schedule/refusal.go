package schedule

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// What keeps a schedule or a calendar from being stored has the same words whether it is
// stored or only asked what would be. These functions are for stores.

// NameTaken returns an ErrConflict for a schedule name that is already taken.
func NameTaken(name string) error {
	return fmt.Errorf("a schedule with the name %q already exists: %w", name, fairlead.ErrConflict)
}

// VersionChanged returns an ErrConflict for a schedule whose version is no longer current.
func VersionChanged(name string) error {
	return fmt.Errorf("schedule %q was changed by another caller: %w", name, fairlead.ErrConflict)
}

// CalendarMissing returns an ErrInvalid for a schedule whose calendar does not exist.
func CalendarMissing(name string) error {
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "calendar", Message: fmt.Sprintf("%q does not exist; create it first", name),
	}}}
}

// CheckVersion compares the calendar's Version with the stored version. It returns
// ErrNotFound if the calendar has a Version but is not stored, and ErrConflict if the
// calendar is stored with a different version.
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
