package console

import (
	"cmp"
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// nextFires returns the schedules that fire next. Viewers bound to tenants see those among
// the first schedules by name, because the service sorts by next fire only for all tenants
// together.
func (v *visit) nextFires() ([]*fairleadv1.Schedule, error) {
	if v.Unbound() {
		soonest, err := v.schedules.ListSchedules(v.ctx, &fairleadv1.ListSchedulesRequest{Soonest: true, PageSize: overviewRows})
		return soonest.GetItems(), err
	}
	enabled := true
	listed, err := v.schedules.ListSchedules(v.ctx, &fairleadv1.ListSchedulesRequest{Enabled: &enabled})
	if err != nil {
		return nil, err
	}
	firing := slices.DeleteFunc(slices.Clone(listed.GetItems()), func(s *fairleadv1.Schedule) bool { return s.GetNextFire() == nil })
	slices.SortStableFunc(firing, func(a, b *fairleadv1.Schedule) int {
		return cmp.Or(a.GetNextFire().AsTime().Compare(b.GetNextFire().AsTime()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return firing[:min(len(firing), overviewRows)], nil
}
