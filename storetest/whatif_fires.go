package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// firedWorld is a random schedule with runs.
type firedWorld struct {
	*fixture
	lot      *rand.Rand
	client   *schedule.Client
	node     fairlead.NodeID
	calendar schedule.Calendar // as first stored
}

// instantOf is an instant with its outcome.
type instantOf struct {
	Due     time.Time
	Trigger schedule.Trigger
	Skip    schedule.SkipReason
	Queued  bool
}

// testFiresHappen asks for the effect of a random change to a schedule or its calendar,
// makes the change, and advances the clock to compare.
func testFiresHappen(f *fixture, seed uint64) {
	instants := f.size(15, 50, "foresees more instants")
	w := &firedWorld{fixture: f, lot: rand.New(rand.NewPCG(seed, 33)), client: schedule.NewClient(f.store), node: f.joinFor(100 * 366 * 24 * time.Hour)}
	w.calendar = f.calendar(w.days(schedule.Calendar{Name: "c"}))
	s, err := w.client.Put(f.ctx(), w.draw(schedule.Schedule{Name: "s", Job: *plain()}))
	f.ok(err)
	w.begin()
	s, err = w.client.ByID(f.ctx(), s.ID)
	f.ok(err)
	var change schedule.Change
	if calendar := w.days(w.calendar); s.Calendar != "" && w.lot.IntN(2) == 0 {
		change.Calendar = &calendar
	} else {
		s = w.draw(s)
		change.Schedule = &s
	}
	forecast, err := w.client.WhatIf(f.ctx(), schedule.WhatIf{Changes: []schedule.Change{change}, Instants: instants})
	f.ok(err)
	w.save(change)
	var want []instantOf
	before := 0
	for _, instant := range forecast.Schedules[0].Instants {
		if p := instant.After; p != nil {
			want = append(want, instantOf{instant.Due.UTC(), p.Trigger, p.Skip, p.Queued})
		}
		if instant.Before != nil {
			before++
		}
	}
	all := len(want)
	if !s.At.IsZero() && before < instants { // otherwise the comparison ends with the list of earlier instants
		all++ // one more than remains
	}
	f.equal(fmt.Sprintf("what became of the next instants of %+v", s), w.pass(s.ID, all), want)
}

// draw sets random timing and overlap rules.
func (w *firedWorld) draw(s schedule.Schedule) schedule.Schedule {
	pick := func(n int) int { return w.lot.IntN(n) }
	s.Cron, s.Every, s.Delay, s.Daily, s.At, s.Zone, s.Calendar, s.Jitter = "", 0, 0, "", time.Time{}, "", "", 0
	switch pick(5) {
	case 0:
		s.Cron = []string{"*/7 * * * *", "0 */5 * * *", "30 3 * * mon-fri", "0 0 1 * *"}[pick(4)]
		s.Zone = []string{"", "Europe/Paris", "America/New_York"}[pick(3)]
	case 1:
		s.Every = time.Duration(1+pick(90)) * time.Minute
	case 2:
		s.Daily = []string{"03:00", "02:30, 15:30"}[pick(2)]
		s.Zone = "Europe/Paris"
	case 3:
		s.Delay = time.Duration(1+pick(90)) * time.Minute
	case 4:
		s.At = w.open(pick(3)).Add(time.Duration(pick(24*60)) * time.Minute)
	}
	if pick(2) == 0 {
		s.Calendar = "c"
	}
	if pick(3) == 0 {
		s.Jitter = time.Duration(1+pick(100)) * time.Second
	}
	s.Overlap = []schedule.Overlap{schedule.OverlapAllow, schedule.OverlapSkip, schedule.OverlapCancel, schedule.OverlapParallel}[pick(4)]
	s.AfterFailure = []schedule.AfterFailure{schedule.FailureRunNew, schedule.FailureRetry, schedule.FailureSkip}[pick(3)]
	s.Concurrency = []schedule.Concurrency{schedule.ConcurrencyQueue, schedule.ConcurrencySkip, schedule.ConcurrencyParallel}[pick(3)]
	s.MaxConcurrency, s.QueueDepth = pick(3), 1+pick(4)
	s.CatchUp = []schedule.CatchUp{schedule.CatchUpNone, schedule.CatchUpCompact, schedule.CatchUpFull}[pick(3)]
	s.Disabled = pick(8) == 0
	return s
}

// open returns the first day from the given one on that the calendar does not exclude: a
// one-time schedule could not be saved for another day.
func (w *firedWorld) open(from int) time.Time {
	day := w.midnight(from)
	for slices.Contains(w.calendar.Weekdays, day.Weekday()) || slices.Contains(w.calendar.Dates, date(day)) {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// days sets random days of a calendar.
func (w *firedWorld) days(c schedule.Calendar) schedule.Calendar {
	c.Weekdays = []time.Weekday{time.Weekday(w.lot.IntN(7))}
	c.Dates = []string{date(w.midnight(w.lot.IntN(20))), date(w.midnight(w.lot.IntN(20)))}
	slices.Sort(c.Dates)
	return c
}

// begin lets some instants pass. Some of their runs end, successfully or not, others
// continue.
func (w *firedWorld) begin() {
	for range w.lot.IntN(4) {
		w.step()
		for _, job := range w.claimAs(driver.Claim{Node: w.node, Scope: everything(), Max: enough}) {
			switch w.lot.IntN(3) {
			case 0:
				w.settle(to(fairlead.Succeed, job))
			case 1:
				w.settle(to(fairlead.Fail, job))
			}
		}
	}
	w.decided()
	w.Advance(time.Second) // later changes take effect at a later instant
	if w.lot.IntN(4) == 0 {
		w.Advance(time.Duration(w.lot.IntN(6)) * time.Hour) // some instants are missed
	}
}

// step advances the clock to the next action on the schedule, and acts.
func (w *firedWorld) step() {
	listed, err := w.client.List(w.ctx(), schedule.Filter{})
	w.ok(err)
	found := listed[0]
	if wait := found.FireAt.Sub(w.now()); !found.Disabled && !found.FireAt.IsZero() && wait > 0 {
		w.Advance(wait)
	}
	w.act()
}

// act acts like a node.
func (w *firedWorld) act() {
	w.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
		plan, err := s.Decide(view, 20*time.Second)
		w.ok(err)
		return plan
	})
}

// save makes the change.
func (w *firedWorld) save(change schedule.Change) {
	var err error
	if change.Schedule != nil {
		_, err = w.client.Put(w.ctx(), *change.Schedule)
	} else {
		_, err = w.client.PutCalendar(w.ctx(), *change.Calendar)
	}
	w.ok(err)
}

// pass lets the next n instants pass, and returns their outcomes. New runs end before the
// next instant; earlier ones stay unchanged.
func (w *firedWorld) pass(id int64, n int) (found []instantOf) {
	known := map[int64]bool{}
	for _, run := range w.findFires(schedule.FireFilter{Schedule: id, Limit: 1000}) {
		known[run.Job] = true
	}
	for i := range 3 * n {
		if i == 0 {
			w.act() // nodes are woken after a save
		} else {
			w.step()
		}
		runs := w.findFires(schedule.FireFilter{Schedule: id, Limit: 1000})
		slices.SortFunc(runs, func(a, b schedule.Fire) int { return a.Due.Compare(b.Due) })
		for _, run := range runs {
			if !known[run.Job] {
				known[run.Job] = true
				found = append(found, instantOf{run.Due.UTC(), run.Trigger, run.Skip, run.Queued})
			}
		}
		for _, job := range w.claimAs(driver.Claim{Node: w.node, Scope: everything(), Max: enough}) {
			w.settle(to(fairlead.Succeed, job))
		}
		if len(found) >= n {
			break
		}
	}
	return found[:min(n, len(found))]
}
