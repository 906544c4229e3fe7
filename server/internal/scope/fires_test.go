package scope

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// Runs are queried by schedule or by job. In both cases, runs of other tenants do not seem
// to exist.
func TestRunsOfOthersAreNotListed(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	client := schedule.NewClient(store)
	runs := map[string]schedule.Fire{}
	for _, tenant := range []string{"acme", "zeta"} {
		s, err := client.Put(t.Context(), schedule.Schedule{Name: tenant, Cron: "0 0 1 1 *", Job: fairlead.Job{Kind: "noop", Tenant: tenant}})
		if err != nil {
			t.Fatal(err)
		}
		if runs[tenant], err = client.Trigger(t.Context(), s.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
	own := Restricted{store: store}
	for name, c := range map[string]struct {
		tenants []string
		filter  schedule.FireFilter
		want    int // -1: it is refused
	}{
		"all of who is not bound": {nil, schedule.FireFilter{Limit: 10}, 2},
		"all of who is":           {[]string{"acme"}, schedule.FireFilter{Limit: 10}, -1},
		"their schedule":          {[]string{"acme"}, schedule.FireFilter{Schedule: runs["acme"].Schedule, Limit: 10}, 1},
		"the schedule of another": {[]string{"acme"}, schedule.FireFilter{Schedule: runs["zeta"].Schedule, Limit: 10}, -1},
		"their job":               {[]string{"acme"}, schedule.FireFilter{Jobs: []int64{runs["acme"].Job}, Limit: 10}, 1},
		"the job of another":      {[]string{"acme"}, schedule.FireFilter{Jobs: []int64{runs["zeta"].Job}, Limit: 10}, 0},
		"their job and another's": {[]string{"acme"}, schedule.FireFilter{Jobs: []int64{runs["acme"].Job, runs["zeta"].Job}, Limit: 10}, 1},
		"both, of who is of both": {[]string{"acme", "zeta"}, schedule.FireFilter{Jobs: []int64{runs["acme"].Job, runs["zeta"].Job}, Limit: 10}, 2},
		"a job that is not there": {[]string{"acme"}, schedule.FireFilter{Jobs: []int64{77}, Limit: 10}, 0},
	} {
		ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "c", Role: access.RoleViewer, Tenants: c.tenants}})
		fires, err := own.Fires(ctx, c.filter)
		if (err != nil) != (c.want < 0) || err == nil && len(fires) != c.want {
			t.Errorf("%s: %d runs, %v", name, len(fires), err)
		}
	}
}
