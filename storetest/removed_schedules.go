package storetest

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// RemovedSchedules covers deleted schedules. left returns the number of remaining rows of
// schedules. Only a store's own test can inspect these, so RemovedSchedules is not part of
// Run.
func RemovedSchedules(t *testing.T, h *Harness, left func() int) {
	const day = 24 * time.Hour
	f := &fixture{TB: t, Harness: h, outer: t, store: h.Open(t)}
	want := func(what string, n int) {
		t.Helper()
		f.equal("how many schedules are left "+what, left(), n)
	}
	remove := func(name string) {
		t.Helper()
		f.ok(f.store.DeleteSchedule(f.ctx(), f.plan(name).ID))
	}
	f.plan("lives")
	s := f.plan("ran")
	run := f.make(s, byHand(f.now()))
	f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
	for _, name := range []string{"a", "b", "c"} {
		remove(name)
	}
	f.prune(100)
	want("at once", 5)
	f.Advance(day + time.Second)
	remove("young")
	f.prune(2)
	want("a day later, of two that may go at a time", 4)
	f.prune(100)
	want("when all may go", 3)
	f.ok(operations(f.store).Delete(f.ctx(), run.Job))
	f.tick(leave) // some stores forget the run only during a tick
	f.prune(100)
	want("when one has no run any more", 2)
	f.Advance(day + time.Second)
	f.prune(100)
	want("when the last is a day old", 1)
	f.equal("the one that lives", scheduleNames(f.schedules(schedule.Filter{})), []string{"lives"})
}
