package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// soonest returns the names of the schedules that fire next. Without a limit, the store's
// own limit applies.
func (f *fixture) soonest(limit int) []string {
	f.Helper()
	return scheduleNames(f.schedules(schedule.Filter{Soonest: true, Limit: limit}))
}

func testSoonest(c *chapter) {
	c.test("Soonest lists schedules in the order in which they fire, whatever their names, IDs and instants are", func(f *fixture) {
		now := f.now()
		fires := func(due, fire time.Duration) func(*schedule.Schedule) {
			return func(s *schedule.Schedule) { s.Cursor = schedule.Cursor{Due: now.Add(due), FireAt: now.Add(fire)} }
		}
		f.plan("a", fires(time.Hour, 3*time.Hour))
		f.plan("d", fires(2*time.Hour, 2*time.Hour))
		f.plan("b", fires(0, 4*time.Hour))
		f.plan("c", fires(-time.Hour, -time.Hour))
		f.equal("the names", f.soonest(0), []string{"c", "d", "a", "b"})
	})
	c.test("Soonest lists those that fire at one instant by ID", func(f *fixture) {
		later := dueAt(f.now().Add(time.Hour))
		for _, name := range []string{"b", "c", "a"} {
			f.plan(name, later)
		}
		f.plan("first")
		f.equal("the names", f.soonest(0), []string{"first", "b", "c", "a"})
		f.equal("some of the names", f.soonest(3), []string{"first", "b", "c"})
	})
	c.test("Soonest lists neither what is disabled, nor what has no FireAt, nor what was deleted", func(f *fixture) {
		off := f.plan("on")
		f.plan("disabled", disabled)
		f.plan("over", func(s *schedule.Schedule) { s.Cursor = schedule.Cursor{} })
		f.ok(f.store.DeleteSchedule(f.ctx(), f.plan("deleted").ID))
		f.equal("the names", f.soonest(0), []string{"on"})
		off.Disabled = true
		off = f.put(off)
		f.equal("the names once none is enabled", f.soonest(0), []string(nil))
		off.Disabled = false
		f.put(off)
		f.equal("the names once one is enabled again", f.soonest(0), []string{"on"})
	})
	c.test("Soonest lists at most Limit schedules, 100 if it is zero", func(f *fixture) {
		var names []string
		for i := range 103 {
			name := fmt.Sprint("s", 200-i)
			f.plan(name, dueAt(f.now().Add(time.Duration(i)*time.Second)))
			names = append(names, name)
		}
		f.equal("two", f.soonest(2), names[:2])
		f.equal("no limit", f.soonest(0), names[:100])
		f.equal("more than there are", f.soonest(1000), names)
	})
	c.test("Soonest follows what Tick decides", func(f *fixture) {
		f.plan("a")
		f.plan("b", dueAt(f.now().Add(time.Minute)))
		f.plan("once", dueAt(f.now()))
		f.tick(func(s schedule.Schedule, v schedule.View) schedule.Plan {
			if s.Name == "once" {
				return schedule.Plan{}
			}
			return runIt(s, v)
		})
		f.equal("the names", f.soonest(0), []string{"b", "a"})
	})
	c.test("a schedule is the same whether it is listed by name or as one of the soonest", func(f *fixture) {
		s := f.elaborate()
		keeping(f.calendar(schedule.Calendar{Name: "holidays"}))(&s)
		s.Disabled = false
		f.put(s)
		f.equal("the schedules", f.schedules(schedule.Filter{Soonest: true}), f.schedules(schedule.Filter{}))
	})
}
