package schedule

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// check refuses what cannot be combined with Soonest: the stores find the soonest by an
// index that knows of nothing else.
func (f Filter) check() error {
	if !f.Soonest {
		return nil
	}
	var refused complaints
	for _, other := range []struct {
		given bool
		what  string
	}{
		{len(f.IDs) > 0, "ids"},
		{len(f.Names) > 0, "names"},
		{len(f.Tenants) > 0, "tenants"},
		{f.After != "", "a later page: there is one page only"},
		{f.Enabled != nil && !*f.Enabled, "enabled=false: a disabled schedule does not fire"},
	} {
		if other.given {
			refused.Refuse("soonest", "cannot be combined with %s; use only one of them", other.what)
		}
	}
	return fairlead.Invalid(refused.Found...)
}

// upcoming returns the schedules that will fire, the soonest first. The order of the store
// does not hold for those whose calendar has changed since, and a schedule that its calendar
// excludes up to the horizon only has its next instant searched at its FireAt.
func upcoming(schedules []Schedule) []Schedule {
	schedules = slices.DeleteFunc(schedules, func(s Schedule) bool { return s.Due.IsZero() })
	slices.SortFunc(schedules, func(a, b Schedule) int {
		return cmp.Or(a.FireAt.Compare(b.FireAt), cmp.Compare(a.ID, b.ID))
	})
	return schedules
}
