package storetest

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// RunSpoiled checks that a schedule whose stored form cannot be read holds up no
// other. spoil makes that of a schedule behind the back of the store.
func RunSpoiled(t *testing.T, store fairlead.Store, spoil func(t *testing.T, schedule int64)) {
	t.Helper()
	f := &fixture{TB: t, outer: t, store: store}
	client := fairlead.NewClient(store)
	now, err := store.Now(t.Context())
	f.ok(err)
	put := func(name string) fairlead.Schedule {
		schedule := fairlead.Schedule{Name: name, Cron: "@yearly", Enabled: true, Job: fairlead.Job{Kind: "a"}}
		f.ok(fairlead.NormalizeSchedule(&schedule))
		past := now.Add(-time.Second)
		schedule.CreatedAt, schedule.Cursor = past, fairlead.Cursor{Due: past, FireAt: past}
		stored, err := store.PutSchedule(t.Context(), schedule, true)
		f.ok(err)
		return stored
	}
	bad, good := put("bad"), put("good")
	spoil(t, bad.ID)

	var refused []string
	tick := func() fairlead.Ticked {
		ticked, err := store.Tick(t.Context(), 10, func(s fairlead.Schedule, v fairlead.View) fairlead.Plan {
			plan, err := s.Decide(v, time.Hour)
			if err != nil {
				refused = append(refused, s.Name)
				plan.Cursor = fairlead.Cursor{}
			}
			return plan
		})
		f.ok(err)
		return ticked
	}
	f.equal("acted upon", tick().Schedules, 2)
	f.equal("could not be read", refused, []string{"bad"})
	fires, err := store.Fires(t.Context(), fairlead.FireFilter{})
	f.ok(err)
	f.equal("runs", len(fires), 1)
	f.equal("the schedule of the run", fires[0].Schedule, good.ID)
	f.equal("acted upon later", tick().Schedules, 0)

	stored, err := client.Schedules(t.Context(), fairlead.ScheduleFilter{})
	f.ok(err)
	f.equal("schedules", len(stored), 2)
	f.equal("the bad one is broken, the other is not", []bool{stored[0].Broken != "", stored[1].Broken != ""}, []bool{true, false})
	_, err = client.Trigger(t.Context(), bad.ID, nil)
	f.wantErr(err, fairlead.ErrConflict)

	mended := fairlead.Schedule{ID: bad.ID, Version: stored[0].Version, Name: "bad", Cron: "@yearly", Enabled: true, Job: fairlead.Job{Kind: "a"}}
	mended, err = client.PutSchedule(t.Context(), mended)
	f.ok(err)
	f.equal("Broken once it was replaced", mended.Broken, "")
	_, err = client.Trigger(t.Context(), bad.ID, nil)
	f.ok(err)
}
