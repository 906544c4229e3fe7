package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// elaborate returns a schedule with every field set.
func (f *fixture) elaborate() schedule.Schedule {
	f.Helper()
	now := f.now()
	return schedule.Schedule{
		Name: "Nächtlich ", Description: "all of it", Cron: "0 3 * * *", Every: time.Minute, Delay: 90 * time.Second, Daily: "03:00, 15:30",
		At: now.Add(time.Hour), Zone: "Europe/Paris", StartsAt: now.Add(time.Minute), EndsAt: now.Add(1000 * time.Hour),
		Jitter: 1500 * time.Millisecond, Calendar: "holidays",
		Job: fairlead.Job{
			Kind: "rèport", Args: json.RawMessage(`{"b": 1,  "a":"<é>"}`), Queue: "slow", Tenant: "acme", Priority: 7,
			StartBy: now.Add(2 * time.Hour), Timeout: time.Minute, MaxAttempts: 4, Retry: fairlead.Exponential(time.Second, time.Minute),
			OnCrash: fairlead.CancelOnCrash, Key: "one", KeyScope: fairlead.KeyForever, OnDuplicate: fairlead.ReplaceDuplicate,
			ConcurrencyKey: "gate", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		},
		Overlap: schedule.OverlapCancel, AfterFailure: schedule.FailureRetry, MaxConcurrency: 3, Concurrency: schedule.ConcurrencySkip,
		QueueDepth: 9, CatchUp: schedule.CatchUpFull, CatchUpLimit: 11, CatchUpWindow: 36 * time.Hour,
		Disabled: true, Reason: "too loud",
		Cursor: schedule.Cursor{Due: now.Add(time.Hour), FireAt: now.Add(time.Hour + 700*time.Millisecond)},
	}
}

func testSchedules(c *chapter) {
	c.test("a CreatedAt of a new schedule is kept, and that of another is not changed", func(f *fixture) {
		made := f.now().Add(-time.Millisecond)
		s := f.plan("s", func(s *schedule.Schedule) { s.CreatedAt = made })
		f.equal("CreatedAt", s.CreatedAt, made)
		f.equal("UpdatedAt", s.UpdatedAt, f.now())
		s.CreatedAt = f.now()
		f.equal("CreatedAt once it was replaced", f.put(s).CreatedAt, made)
		f.equal("CreatedAt as read", f.schedule(s.ID).CreatedAt, made)
	})
	c.test("a schedule is kept with all that was declared of it", func(f *fixture) {
		want := f.elaborate()
		keeping(f.calendar(schedule.Calendar{Name: "holidays"}))(&want)
		stored := f.put(want)
		want.ID, want.Version, want.CreatedAt, want.UpdatedAt = stored.ID, stored.Version, f.now(), f.now()
		f.equal("the schedule as stored", stored, want)
		f.equal("the schedule as read", f.schedule(stored.ID), want)
		f.equal("the schedule as another process reads it", f.elsewhere().schedule(stored.ID), want)
	})
	c.test("the least that a schedule has is a name, and a job of a kind", func(f *fixture) {
		want := schedule.Schedule{Name: "least", Job: *plain()}
		stored := f.put(want)
		f.ok(fairlead.NormalizeJobs([]*fairlead.Job{&want.Job}))
		want.ID, want.Version, want.CreatedAt, want.UpdatedAt = stored.ID, stored.Version, f.now(), f.now()
		f.equal("the schedule", f.schedule(stored.ID), want)
	})
	c.test("it is created if its Version is zero, with an ID that none had before", func(f *fixture) {
		seen := map[int64]bool{0: true}
		for i := range 5 {
			s := f.plan("again")
			if seen[s.ID] || s.Version == 0 {
				f.Fatalf("schedule %d has ID %d and Version %d", i, s.ID, s.Version)
			}
			seen[s.ID] = true
			f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		}
	})
	c.test("with its ID and Version it is replaced as a whole, and gets a larger Version", func(f *fixture) {
		f.calendar(schedule.Calendar{Name: "holidays"})
		first := f.put(f.elaborate())
		f.Advance(time.Minute)
		want := f.hourly("renamed", disabled)
		want.ID, want.Version = first.ID, first.Version
		second := f.put(want)
		if second.Version <= first.Version {
			f.Fatalf("version %d follows %d", second.Version, first.Version)
		}
		f.ok(fairlead.NormalizeJobs([]*fairlead.Job{&want.Job}))
		want.Version, want.CreatedAt, want.UpdatedAt, want.Cursor = second.Version, first.CreatedAt, f.now(), first.Cursor
		f.equal("the schedule as stored", second, want)
		f.equal("the schedules", f.schedules(schedule.Filter{}), []schedule.Schedule{want})
	})
	c.test("its Cursor counts if it is created", func(f *fixture) {
		cursor := schedule.Cursor{Due: f.now().Add(time.Minute), FireAt: f.now().Add(2 * time.Minute)}
		s := f.plan("s", func(s *schedule.Schedule) { s.Cursor = cursor })
		f.equal("the cursor", f.schedule(s.ID).Cursor, cursor)
	})
	c.test("if it is replaced the stored Cursor stays", func(f *fixture) {
		s := f.plan("s")
		cursor := s.Cursor
		s.Cursor = at(f.now().Add(time.Hour))
		f.equal("the cursor as answered", f.put(s).Cursor, cursor)
		f.equal("the cursor", f.schedule(s.ID).Cursor, cursor)
	})
	c.test("if it is replaced and restart says so its Cursor counts", func(f *fixture) {
		s := f.plan("s")
		s.Cursor = schedule.Cursor{Due: f.now().Add(time.Hour), FireAt: f.now().Add(2 * time.Hour)}
		stored, err := f.tryPut(s, true)
		f.ok(err)
		f.equal("the cursor as answered", stored.Cursor, s.Cursor)
		f.equal("the cursor", f.schedule(s.ID).Cursor, s.Cursor)
	})
	c.test("it conflicts if another living schedule has the name", func(f *fixture) {
		f.plan("taken")
		_, err := f.tryPut(f.hourly("taken", disabled), false)
		f.wantErr(err, fairlead.ErrConflict)
		other := f.plan("other")
		other.Name = "taken"
		_, err = f.tryPut(other, false)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the names", scheduleNames(f.schedules(schedule.Filter{})), []string{"other", "taken"})
	})
	c.test("the name of a deleted schedule is free", func(f *fixture) {
		for range 3 {
			s := f.plan("again")
			f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		}
		f.plan("again")
	})
	c.test("a name is told from one in other case, or with a space at its end", func(f *fixture) {
		for _, name := range []string{"acme", "Acme", "acme "} {
			f.plan(name)
		}
		f.equal("the schedules", len(f.schedules(schedule.Filter{})), 3)
	})
	c.test("a Version that is no longer current conflicts and changes nothing", func(f *fixture) {
		first := f.plan("s")
		second := f.put(first)
		first.Description = "too late"
		_, err := f.tryPut(first, true)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the schedule", f.schedule(first.ID), second)
	})
	c.test("what does not exist, or not any more, cannot be replaced", func(f *fixture) {
		s := f.plan("s")
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		_, err := f.tryPut(s, false)
		f.wantErr(err, fairlead.ErrNotFound)
		s.ID = unknown
		_, err = f.tryPut(s, false)
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("a calendar that does not exist is invalid", func(f *fixture) {
		s := f.hourly("s", func(s *schedule.Schedule) { s.Calendar = "nowhere" })
		_, err := f.tryPut(s, false)
		f.wantErr(err, fairlead.ErrInvalid)
		s.Calendar = ""
		stored := f.put(s)
		stored.Calendar = "nowhere"
		_, err = f.tryPut(stored, false)
		f.wantErr(err, fairlead.ErrInvalid)
		f.equal("its calendar", f.schedule(stored.ID).Calendar, "")
	})
	c.test("a tick is no change: it leaves Version and UpdatedAt as they are", func(f *fixture) {
		s := f.plan("s")
		f.Advance(time.Minute)
		f.tick(runIt)
		s.Cursor = at(s.Due.Add(time.Hour))
		f.equal("the schedule", f.schedule(s.ID), s)
	})
	c.test("of many that create one name at once exactly one wins", func(f *fixture) {
		s := f.hourly("s")
		f.ok(fairlead.NormalizeJobs([]*fairlead.Job{&s.Job}))
		f.wantOneWinner(f.rivals(6, func(_ int, store Store) error {
			_, err := store.PutSchedule(f.ctx(), s, false)
			return err
		}))
		f.equal("the schedules", len(f.schedules(schedule.Filter{})), 1)
	})
	c.test("of many that replace one Version at once exactly one wins", func(f *fixture) {
		s := f.plan("s")
		f.wantOneWinner(f.rivals(6, func(_ int, store Store) error {
			_, err := store.PutSchedule(f.ctx(), s, false)
			return err
		}))
	})
	c.test("Schedules lists living schedules by name, a page at a time", func(f *fixture) {
		for i := range 5 {
			f.plan(fmt.Sprint("s", (i*3)%5))
		}
		gone := f.plan("s2a")
		f.ok(f.store.DeleteSchedule(f.ctx(), gone.ID))
		list := func(filter schedule.Filter) []string { return scheduleNames(f.schedules(filter)) }
		f.equal("all", list(schedule.Filter{}), []string{"s0", "s1", "s2", "s3", "s4"})
		f.equal("the first page", list(schedule.Filter{Limit: 2}), []string{"s0", "s1"})
		f.equal("the second page", list(schedule.Filter{Limit: 2, After: "s1"}), []string{"s2", "s3"})
	})
	c.test("a filter chooses by ID, name, tenant and whether they are enabled, all of it", func(f *fixture) {
		a := f.plan("a", making(forTenant("acme")))
		f.plan("b", making(forTenant("acme")), disabled)
		d := f.plan("c", making(forTenant("other")))
		list := func(filter schedule.Filter) []string { return scheduleNames(f.schedules(filter)) }
		yes, no := true, false
		f.equal("by ID", list(schedule.Filter{IDs: []int64{d.ID, a.ID, unknown}}), []string{"a", "c"})
		f.equal("by name", list(schedule.Filter{Names: []string{"c", "b", "none"}}), []string{"b", "c"})
		f.equal("by tenant", list(schedule.Filter{Tenants: []string{"acme", "none"}}), []string{"a", "b"})
		f.equal("those enabled", list(schedule.Filter{Enabled: &yes}), []string{"a", "c"})
		f.equal("those not", list(schedule.Filter{Enabled: &no}), []string{"b"})
		f.equal("by all", list(schedule.Filter{IDs: []int64{a.ID, d.ID}, Tenants: []string{"acme"}, Enabled: &yes, After: "A"}), []string{"a"})
		f.plan("e", making(forTenant("acme")))
		f.equal("by ID and name", list(schedule.Filter{IDs: []int64{a.ID, d.ID}, Names: []string{"a", "e"}}), []string{"a"})
		f.equal("by ID and tenant", list(schedule.Filter{IDs: []int64{a.ID, d.ID}, Tenants: []string{"acme"}}), []string{"a"})
		f.equal("by name and tenant", list(schedule.Filter{Names: []string{"a", "c"}, Tenants: []string{"acme"}}), []string{"a"})
		for after, want := range map[string]string{"": "a", "a": "b", "b": "e"} {
			f.equal("a page of a tenant", list(schedule.Filter{Tenants: []string{"acme"}, Limit: 1, After: after}), []string{want})
		}
		f.equal("by all but one", list(schedule.Filter{Names: []string{"a"}, Tenants: []string{"other"}}), []string(nil))
	})
}
