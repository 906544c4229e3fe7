package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// seen records the schedules for which a decision was called.
func seen(names *[]string, decide decision) decision {
	return func(s schedule.Schedule, view schedule.View) schedule.Plan {
		*names = append(*names, s.Name)
		return decide(s, view)
	}
}

// wantSeen ticks and checks which schedules it acts on.
func (f *fixture) wantSeen(limit int, decide decision, want ...string) schedule.Ticked {
	f.Helper()
	var names []string
	ticked := f.tickSome(limit, seen(&names, decide))
	slices.Sort(names)
	f.equal("the schedules that were acted upon", names, want)
	f.equal("their number", ticked.Schedules, len(want))
	return ticked
}

func testTick(c *chapter) {
	c.test("it takes enabled schedules whose FireAt has come", func(f *fixture) {
		now := f.now()
		f.plan("due")
		f.plan("jittered", func(s *schedule.Schedule) { s.FireAt = now.Add(time.Second) })
		f.plan("soon", dueAt(now.Add(time.Microsecond)))
		f.plan("over", func(s *schedule.Schedule) { s.Cursor = schedule.Cursor{} })
		f.plan("disabled", disabled)
		f.wantSeen(enough, runIt, "due")
		f.Advance(time.Microsecond)
		f.wantSeen(enough, runIt, "soon")
		f.Advance(time.Second)
		f.wantSeen(enough, runIt, "jittered")
		f.wantSeen(enough, runIt)
	})
	c.test("one that is enabled later is acted upon then", func(f *fixture) {
		s := f.plan("s", disabled)
		f.wantSeen(enough, runIt)
		s.Disabled = false
		s = f.put(s)
		f.wantSeen(enough, leave, "s")
		s.Disabled = true
		f.put(s)
		f.wantSeen(enough, runIt)
	})
	c.test("it takes the earliest first, and at most limit of them", func(f *fixture) {
		start := f.now()
		for _, n := range []int{4, 1, 3, 0, 2} {
			f.plan(fmt.Sprint("s", n), dueAt(start.Add(time.Duration(n)*time.Second)))
		}
		f.Advance(time.Minute)
		f.equal("what is next", f.wantSeen(2, runIt, "s0", "s1").Next, time.Duration(0))
		f.equal("what is next", f.wantSeen(2, runIt, "s2", "s3").Next, time.Duration(0))
		f.equal("what is next", f.wantSeen(2, runIt, "s4").Next, start.Add(time.Hour).Sub(f.now()))
	})
	c.test("it tells how many runs were made, skips too", func(f *fixture) {
		f.plan("a")
		f.plan("b")
		f.plan("c")
		ticked := f.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan := runIt(s, view)
			switch s.Name {
			case "b":
				plan.Fires = append(plan.Fires, skipped(s.Due))
			case "c":
				plan.Fires = nil
			}
			return plan
		})
		f.equal("the schedules", ticked.Schedules, 3)
		f.equal("the runs", ticked.Runs, 3)
	})
	c.test("it tells how long it is until the next schedule is due, and a negative time if none will be", func(f *fixture) {
		next := func() time.Duration { return max(f.tick(runIt).Next, -1) }
		f.equal("without a schedule", next(), time.Duration(-1))
		f.plan("disabled", disabled)
		f.plan("over", func(s *schedule.Schedule) { s.Cursor = schedule.Cursor{} })
		f.equal("without one that will be due", next(), time.Duration(-1))
		f.plan("s", dueAt(f.now().Add(90*time.Second)))
		f.plan("t", dueAt(f.now().Add(time.Hour)))
		f.equal("with some", next(), 90*time.Second)
		f.Advance(80 * time.Second)
		f.equal("later", next(), 10*time.Second)
		f.Advance(10 * time.Second)
		f.equal("after the first", next(), time.Hour-90*time.Second)
		f.equal("for another process", f.elsewhere().tick(leave).Next, time.Hour-90*time.Second)
	})
	c.test("what decide leaves due is due again", func(f *fixture) {
		f.plan("s")
		f.equal("what is next", f.wantSeen(enough, leave, "s").Next, time.Duration(0))
		f.wantSeen(enough, runIt, "s")
	})
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop} {
		c.test(named("it takes a schedule whose run has ended by", move, "once"), func(f *fixture) {
			f.plan("other", dueAt(f.now().Add(time.Hour)))
			s := f.plan("s")
			f.tick(runIt)
			fire := f.fires(s.ID)[0]
			job := f.started(fire)
			f.wantSeen(enough, leave)
			f.settle(to(move, job))
			f.wantSeen(enough, leave, "s")
			f.wantSeen(enough, leave)
		})
	}
	c.test("it takes one whose run was cancelled, or deleted, before it ran", func(f *fixture) {
		a, b := f.plan("a"), f.plan("b")
		f.tick(runIt)
		f.ok(operations(f.store).Cancel(f.ctx(), f.fires(a.ID)[0].Job, ""))
		f.ok(operations(f.store).Delete(f.ctx(), f.fires(b.ID)[0].Job))
		f.wantSeen(enough, leave, "a", "b")
		f.wantSeen(enough, leave)
	})
	c.test("it takes one whose run expired, or died with its node", func(f *fixture) {
		a, b := f.plan("a"), f.plan("b", making(cancelOnCrash))
		f.make(a, byHand(f.now()))
		job := f.claimOne(f.join())
		f.settle(wait(job))
		f.make(b, byHand(f.now()))
		f.crash(f.claimOne(f.join()))
		f.wantSeen(enough, runIt, "a", "b") // the schedules are also due
		f.settle(to(fairlead.Succeed, f.claimOne(f.join())), to(fairlead.Succeed, f.claimOne(f.join())))
		f.wantSeen(enough, leave, "a", "b")
		f.Advance(2 * time.Hour)
		_, err := expireOverdue(f.ctx(), f.store, 10)
		f.ok(err)
		f.wantSeen(enough, runIt, "a", "b")
		f.equal("the active runs of a", len(f.view(a).Active), 1)
	})
	c.test("it takes one whose run has ended even if it is disabled", func(f *fixture) {
		s := f.plan("s")
		f.tick(runIt)
		s.Disabled = true
		f.put(s)
		f.ended(f.fires(s.ID)[0], fairlead.Succeed)
		f.wantSeen(enough, leave, "s")
		f.wantSeen(enough, leave)
	})
	c.test("of those whose runs have ended it takes at most limit, and tells that some are left", func(f *fixture) {
		for i := range 5 {
			f.plan(fmt.Sprint("s", i))
		}
		f.tick(runIt)
		for _, job := range f.claim(f.join(), 10) {
			f.settle(to(fairlead.Succeed, job))
		}
		left := 5
		for ; left > 2; left -= 2 {
			ticked := f.tickSome(2, leave)
			f.equal("the schedules", ticked.Schedules, 2)
			f.equal("what is next", ticked.Next, time.Duration(0))
		}
		f.equal("the schedules", f.tickSome(2, leave).Schedules, 1)
		f.equal("the schedules", f.tickSome(2, leave).Schedules, 0)
	})
	c.test("schedules whose runs go on keep it from none whose run has ended", func(f *fixture) {
		for i := range 4 {
			f.plan(fmt.Sprint("s", i))
		}
		f.tick(runIt)
		f.settle(to(fairlead.Succeed, f.claim(f.join(), 4)[3]))
		f.wantSeen(1, leave, "s3")
		f.wantSeen(1, leave)
	})
	c.test("a run that goes on, backs off or waits is no news", func(f *fixture) {
		f.plan("s")
		f.tick(runIt)
		job := f.claimOne(f.join())
		f.wantSeen(enough, leave)
		f.settle(again(job, time.Minute))
		f.wantSeen(enough, leave)
		f.Advance(time.Minute)
		f.promote()
		f.settle(wait(f.claimOne(f.join())))
		f.wantSeen(enough, leave)
	})
	c.test("decide is told the schedule as it is", func(f *fixture) {
		want := f.elaborate()
		want.Disabled, want.Cursor = false, at(f.now())
		keeping(f.calendar(schedule.Calendar{Name: "holidays"}))(&want)
		want = f.put(want)
		f.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
			f.equal("the schedule", s, want)
			f.equal("the time", view.Now, f.now())
			return runIt(s, view)
		})
		moved := at(want.Due.Add(time.Hour))
		moved.CalendarVersion = want.CalendarVersion
		f.equal("the cursor", f.schedule(want.ID).Cursor, moved)
	})
	c.test("the cursor goes where the plan says, to nowhere too", func(f *fixture) {
		s := f.plan("s")
		next := schedule.Cursor{Due: f.now().Add(time.Hour), FireAt: f.now().Add(time.Hour + time.Second)}
		f.tick(func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{Cursor: next} })
		f.equal("the cursor", f.schedule(s.ID).Cursor, next)
		f.Advance(2 * time.Hour)
		f.tick(func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{} })
		f.equal("the cursor at the end", f.schedule(s.ID).Cursor, schedule.Cursor{})
		f.wantSeen(enough, leave)
	})
	c.test("a schedule with a delay goes on if it is saved anew at the very moment of its run", func(f *fixture) {
		client := schedule.NewClient(f.store)
		s, err := client.Put(f.ctx(), schedule.Schedule{Name: "s", Delay: time.Hour, Job: *plain()})
		f.ok(err)
		f.decided()
		f.ended(f.fires(s.ID)[0], fairlead.Succeed)
		f.decided()
		s.Delay = 2 * time.Hour
		s, err = client.Put(f.ctx(), s)
		f.ok(err)
		f.decided()
		f.equal("how many runs there are", len(f.fires(s.ID)), 1)
		f.equal("when it is due", f.listed(s).Due.UTC(), f.now().Add(2*time.Hour).UTC())
	})
	c.test("each due schedule is taken by one of many at once", func(f *fixture) {
		for i := range 40 {
			f.plan(fmt.Sprint("s", i))
		}
		f.share(40, func(store Store) (int, error) {
			ticked, err := store.Tick(f.ctx(), enough, runIt)
			return ticked.Runs, err
		})
		f.equal("the jobs", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 40})
	})
	c.test("nodes are woken for what was made", func(f *fixture) {
		f.plan("s")
		l := f.listen(everything())
		f.tick(runIt)
		if !l.heard(driver.WakeWork, patient) {
			f.Fatal("nobody was woken")
		}
	})
	c.test("nodes are woken for a schedule that is new or was changed", func(f *fixture) {
		l := f.listen(everything())
		s := f.plan("s")
		if !l.heard(driver.WakeLater, patient) {
			f.Fatal("nobody was woken for a new one")
		}
		f.put(s)
		if !l.heard(driver.WakeLater, patient) {
			f.Fatal("nobody was woken for a change")
		}
		f.view(s)
		if !l.heard(driver.WakeLater, patient) {
			f.Fatal("nobody was woken by Act")
		}
	})
}
