package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// reservedNames is how names begin that callers who are bound to tenants cannot give.
const reservedNames = "fairlead-"

// errName is the conflict of a name that a caller who is bound to tenants cannot give.
// Names are unique in the whole cluster; the error is the same for a name that is
// reserved and for one that another tenant has, so that it does not say which.
func errName(what, name string) error {
	return fmt.Errorf("the name %q cannot be used for a %s; choose another: %w", name, what, fairlead.ErrConflict)
}

// nameable fails for names that callers who are bound to tenants cannot give.
func nameable(ctx context.Context, what, name string) error {
	if callerOf(ctx).identity.bound() && strings.HasPrefix(name, reservedNames) {
		return errName(what, name)
	}
	return nil
}

// unnamed returns err, or errName in its place if it is the conflict with a name that
// is not among what the caller may see. seen reports whether the conflict is with
// something of the caller's.
func unnamed(ctx context.Context, what, name string, err error, seen func() (bool, error)) error {
	if !errors.Is(err, fairlead.ErrConflict) || !callerOf(ctx).identity.bound() {
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

// clashes are the lists that show with what the name of something that is put is in
// conflict.
type clashes[Filter, Row any] struct {
	own, all    func(context.Context, Filter) ([]Row, error) // what the caller may see; everything
	named, same Filter                                       // all of its name; itself
	version     int64                                        // that is put; zero: it is new
	versionOf   func(Row) int64
}

// seen reports whether the conflict is with something of the caller's: another that has
// the name, or a newer version of itself. It is also if nothing has the name: then the
// conflict is not about that.
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

// seesSchedule reports whether the conflict of a schedule that is put is with a schedule
// of the caller's.
func (s scoped) seesSchedule(ctx context.Context, sc schedule.Schedule) (bool, error) {
	return clashes[schedule.Filter, schedule.Schedule]{
		own: s.Schedules, all: s.store.Schedules,
		named: schedule.Filter{Names: []string{sc.Name}}, same: schedule.Filter{IDs: []int64{sc.ID}},
		version: sc.Version, versionOf: func(found schedule.Schedule) int64 { return found.Version },
	}.seen(ctx)
}

// seesSweep is seesSchedule of a sweep.
func (s scoped) seesSweep(ctx context.Context, sw sweep.Sweep) (bool, error) {
	return clashes[sweep.Filter, sweep.Record]{
		own: s.Sweeps, all: s.store.Sweeps,
		named: sweep.Filter{Names: []string{sw.Name}}, same: sweep.Filter{IDs: []int64{sw.ID}},
		version: sw.Version, versionOf: func(found sweep.Record) int64 { return found.Version },
	}.seen(ctx)
}
