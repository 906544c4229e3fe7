package storetest

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// RunSpoiled checks that a schedule with an unreadable stored form does not hold up others.
// spoil makes the stored form of a schedule unreadable, bypassing the store.
func RunSpoiled(t *testing.T, store Store, spoil func(t *testing.T, schedule int64)) {
	t.Helper()
	f := &fixture{TB: t, outer: t, store: store}
	client := schedule.NewClient(store)
	now, err := store.Now(t.Context())
	f.ok(err)
	put := func(name string) schedule.Schedule {
		sc := schedule.Schedule{Name: name, Cron: "@yearly", Job: fairlead.Job{Kind: "a"}}
		f.ok(schedule.Normalize(&sc))
		past := now.Add(-time.Second)
		sc.CreatedAt, sc.Cursor = past, schedule.Cursor{Due: past, FireAt: past}
		stored, err := store.PutSchedule(t.Context(), sc, true)
		f.ok(err)
		return stored
	}
	bad, good := put("bad"), put("good")
	spoil(t, bad.ID)

	var refused []string
	tick := func() schedule.Ticked {
		ticked, err := store.Tick(t.Context(), 10, func(s schedule.Schedule, v schedule.View) schedule.Plan {
			plan, err := s.Decide(v, time.Hour)
			if err != nil {
				refused = append(refused, s.Name)
				plan.Cursor = schedule.Cursor{}
			}
			return plan
		})
		f.ok(err)
		return ticked
	}
	f.equal("acted upon", tick().Schedules, 2)
	f.equal("could not be read", refused, []string{"bad"})
	fires, err := store.Fires(t.Context(), schedule.FireFilter{})
	f.ok(err)
	f.equal("runs", len(fires), 1)
	f.equal("the schedule of the run", fires[0].Schedule, good.ID)
	f.equal("acted upon later", tick().Schedules, 0)

	stored, err := client.List(t.Context(), schedule.Filter{})
	f.ok(err)
	f.equal("schedules", len(stored), 2)
	f.equal("the bad one is broken, the other is not", []bool{stored[0].Broken != "", stored[1].Broken != ""}, []bool{true, false})
	_, err = client.Trigger(t.Context(), bad.ID, nil)
	f.wantErr(err, fairlead.ErrConflict)

	mended := schedule.Schedule{ID: bad.ID, Version: stored[0].Version, Name: "bad", Cron: "@yearly", Job: fairlead.Job{Kind: "a"}}
	mended, err = client.Put(t.Context(), mended)
	f.ok(err)
	f.equal("Broken once it was replaced", mended.Broken, "")
	_, err = client.Trigger(t.Context(), bad.ID, nil)
	f.ok(err)
}
