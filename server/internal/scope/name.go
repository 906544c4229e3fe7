package scope

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/sweep"
)

// reservedNames is the prefix of names that callers bound to tenants cannot use.
const reservedNames = "fairlead-"

// errName returns the ErrConflict for a name that a caller bound to tenants cannot use.
// Names are unique in the whole cluster; the error is the same for a reserved name and for
// a name that another tenant uses, so that it does not reveal which.
func errName(what, name string) error {
	return fmt.Errorf("the name %q cannot be used for a %s; choose another: %w", name, what, fairlead.ErrConflict)
}

// nameable returns an error for names that callers bound to tenants cannot use.
func nameable(ctx context.Context, what, name string) error {
	if caller.Of(ctx).Identity.Restricted() && strings.HasPrefix(name, reservedNames) {
		return errName(what, name)
	}
	return nil
}

// unnamed returns err, or errName instead if err is a conflict with a name that the caller
// may not see. seen reports whether the conflict is with an object of the caller.
func unnamed(ctx context.Context, what, name string, err error, seen func() (bool, error)) error {
	if !errors.Is(err, fairlead.ErrConflict) || !caller.Of(ctx).Identity.Restricted() {
		return err
	}
	own, lookErr := seen()
	if lookErr != nil {
		return lookErr
	}
	if own {
		return err
	}
	return errName(what, name)
}

// clashes contains the lists that show which object conflicts with the name of a new or
// changed object.
type clashes[Filter, Row any] struct {
	own, all    func(context.Context, Filter) ([]Row, error) // objects that the caller may see; all objects
	named, same Filter                                       // all objects with the name; the object itself
	version     int64                                        // version of the object; zero = new
	versionOf   func(Row) int64
}

// seen reports whether the conflict is with an object of the caller: another one with the
// same name, or a newer version of the same object. It also returns true if no object has
// the name, because then the conflict has another reason.
func (c clashes[Filter, Row]) seen(ctx context.Context) (bool, error) {
	found, err := c.own(ctx, c.named)
	if err != nil || len(found) > 0 || c.version == 0 {
		return len(found) > 0, err
	}
	found, err = c.own(ctx, c.same)
	if err != nil || len(found) > 0 && c.versionOf(found[0]) != c.version {
		return true, err
	}
	taken, err := c.all(ctx, c.named)
	return len(taken) == 0, err
}

// seesSchedule reports whether a schedule conflicts with a schedule of the caller.
func (s Restricted) seesSchedule(ctx context.Context, sc schedule.Schedule) (bool, error) {
	return clashes[schedule.Filter, schedule.Schedule]{
		own: s.Schedules, all: s.store.Schedules,
		named: schedule.Filter{Names: []string{sc.Name}}, same: schedule.Filter{IDs: []int64{sc.ID}},
		version: sc.Version, versionOf: func(found schedule.Schedule) int64 { return found.Version },
	}.seen(ctx)
}

// seesSweep reports whether a sweep conflicts with a sweep of the caller.
func (s Restricted) seesSweep(ctx context.Context, sw sweep.Sweep) (bool, error) {
	return clashes[sweep.Filter, sweep.Record]{
		own: s.Sweeps, all: s.store.Sweeps,
		named: sweep.Filter{Names: []string{sw.Name}}, same: sweep.Filter{IDs: []int64{sw.ID}},
		version: sw.Version, versionOf: func(found sweep.Record) int64 { return found.Version },
	}.seen(ctx)
}
