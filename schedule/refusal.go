package schedule

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// What keeps a schedule or a calendar from being stored has the same words whether it is
// stored or only asked what would be. These functions are for stores.

// NameTaken is the ErrConflict of a name that another schedule has.
func NameTaken(name string) error {
	return fmt.Errorf("a schedule with the name %q exists already: %w", name, fairlead.ErrConflict)
}

// VersionChanged is the ErrConflict of a schedule whose version is not current any more.
func VersionChanged(name string) error {
	return fmt.Errorf("schedule %q was changed by another caller: %w", name, fairlead.ErrConflict)
}

// CalendarMissing is the ErrInvalid of a schedule whose calendar does not exist.
func CalendarMissing(name string) error {
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "calendar", Message: fmt.Sprintf("%q does not exist; create it first", name),
	}}}
}

// CheckVersion returns the ErrConflict or ErrNotFound of a calendar that is not what its
// caller believes it to be, given the version of the stored one, if there is one.
func (c *Calendar) CheckVersion(version int64, exists bool) error {
	switch {
	case !exists && c.Version != 0:
		return fmt.Errorf("calendar %q: %w", c.Name, fairlead.ErrNotFound)
	case exists && c.Version == 0:
		return fmt.Errorf("calendar %q exists already: %w", c.Name, fairlead.ErrConflict)
	case exists && c.Version != version:
		return fmt.Errorf("calendar %q was changed by another caller: %w", c.Name, fairlead.ErrConflict)
	}
	return nil
}
