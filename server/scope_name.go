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

// seesSchedule reports whether the conflict of a schedule that is put is with a
// schedule of the caller's: another that has its name, or a newer version of itself. It
// also is if no schedule has the name: then the conflict is not about that.
func (s scoped) seesSchedule(ctx context.Context, sc schedule.Schedule) (bool, error) {
	found, err := s.Schedules(ctx, schedule.Filter{Names: []string{sc.Name}})
	if err != nil || len(found) > 0 || sc.Version == 0 {
		return len(found) > 0, err
	}
	found, err = s.Schedules(ctx, schedule.Filter{IDs: []int64{sc.ID}})
	if err != nil || len(found) > 0 && found[0].Version != sc.Version {
		return true, err
	}
	taken, err := s.store.Schedules(ctx, schedule.Filter{Names: []string{sc.Name}})
	return len(taken) == 0, err
}

// seesSweep is seesSchedule of a sweep.
func (s scoped) seesSweep(ctx context.Context, sw sweep.Sweep) (bool, error) {
	found, err := s.Sweeps(ctx, sweep.Filter{Names: []string{sw.Name}})
	if err != nil || len(found) > 0 || sw.Version == 0 {
		return len(found) > 0, err
	}
	found, err = s.Sweeps(ctx, sweep.Filter{IDs: []int64{sw.ID}})
	if err != nil || len(found) > 0 && found[0].Version != sw.Version {
		return true, err
	}
	taken, err := s.store.Sweeps(ctx, sweep.Filter{Names: []string{sw.Name}})
	return len(taken) == 0, err
}
