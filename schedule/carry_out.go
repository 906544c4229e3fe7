package schedule

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

// Decision decides what a schedule does next and returns the plan.
type Decision func(Schedule, View) (Plan, error)

// Always returns a Decision that calls decide and never fails.
func Always(decide func(Schedule, View) Plan) Decision {
	return func(s Schedule, v View) (Plan, error) { return decide(s, v), nil }
}

// RunsAtOnce is the maximum number of scheduled and catch-up runs, including skips, that one
// transaction creates. Only a transaction that acts on more schedules than that creates
// more. If a schedule has missed more instants, it continues in the next transaction.
const RunsAtOnce = 1000

// Outcome is the result of CarryOut.
type Outcome struct {
	Schedules int    // number of schedules that were decided
	Fires     []Fire // runs that were created, including skips
	// Waiting lists the schedules with plans that affect rows that other transactions may
	// hold: keys, and earlier runs. All other plans affect only the rows of their own
	// schedules. Waiting is set even if CarryOut fails.
	Waiting []Waiting
}

// CarryOut calls decide for the schedules that tx has taken, and carries out the plans. It
// skips schedules that another node has processed in the meantime. If decide fails, CarryOut
// returns its error. It writes nothing before the last decision is made. The schedules share
// the room for RunsAtOnce runs, and each schedule has room for at least one run.
func CarryOut(ctx context.Context, tx Tx, decide Decision) (Outcome, error) {
	c := &carrying{tx: tx}
	for _, step := range []func(context.Context) error{
		c.look,
		func(ctx context.Context) error { return c.decide(ctx, decide) },
		c.cancel,
		c.admit,
		c.makeRuns,
		c.alert,
		c.keep,
	} {
		if err := step(ctx); err != nil {
			return Outcome{Waiting: c.waiting()}, err
		}
	}
	c.outcome.Waiting = c.waiting()
	return c.outcome, nil
}

// carrying is a transaction that acts upon schedules, each step for all of them.
type carrying struct {
	tx       Tx
	sight    Sight
	subjects []*subject
	outcome  Outcome
}

// subject is a schedule that is acted upon.
type subject struct {
	*Taken
	active   []Fire // open runs that have not ended, oldest first
	ended    []Fire // open runs that have
	last     *Fire  // what decide learns of as the last run
	calendar *Calendar
	plan     Plan
}

// look sorts what the transaction sees by schedule.
func (c *carrying) look(ctx context.Context) (err error) {
	if c.sight, err = c.tx.Look(ctx); err != nil {
		return err
	}
	byID := make(map[int64]*subject, len(c.sight.Schedules))
	for i := range c.sight.Schedules {
		s := &subject{Taken: &c.sight.Schedules[i]}
		s.calendar = c.sight.Calendars[s.Calendar]
		byID[s.ID], c.subjects = s, append(c.subjects, s)
	}
	for _, fire := range c.sight.Open {
		byID[fire.Schedule].see(fire, c.sight.Now)
	}
	c.subjects = slices.DeleteFunc(c.subjects, func(s *subject) bool { return !s.Wanted && len(s.ended) == 0 && (!s.Outdated || s.Deleted) })
	return c.findLast(ctx)
}

// see notes an open run, or that it has ended. When a job was deleted is not known: it is
// known from now on that it was.
func (s *subject) see(fire Fire, now time.Time) {
	if fire.Active() {
		s.active = append(s.active, fire)
		return
	}
	if fire.EndedAt.IsZero() {
		fire.EndedAt = now
	}
	s.end(fire)
}

// end notes that a run has ended.
func (s *subject) end(fire Fire) {
	fire.Queued = false
	s.ended = append(s.ended, fire)
	s.Record.ended(fire)
}

// findLast finds the last runs of schedules. One that was retried has not ended: then it
// is the last of those that have ended now or are still kept.
func (c *carrying) findLast(ctx context.Context) error {
	retried := map[int64]*subject{}
	var ids []int64
	for _, s := range c.subjects {
		s.last = s.Last
		if s.Last != nil && slices.ContainsFunc(s.active, func(fire Fire) bool { return fire.Job == s.Last.Job }) {
			retried[s.ID], ids = s, append(ids, s.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := c.tx.LastEnded(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range retried {
		s.last = nil
		known = append(known, s.ended...)
	}
	for i := range known {
		fire := &known[i]
		s := retried[fire.Schedule]
		if !fire.Active() && (s.last == nil || cmp.Or(s.last.Due.Compare(fire.Due), cmp.Compare(s.last.Job, fire.Job)) < 0) {
			s.last = fire
		}
	}
	return nil
}

// decide asks for a plan for each schedule. What it hands out belongs to the decision.
func (c *carrying) decide(ctx context.Context, decide Decision) error {
	room, read := RunsAtOnce, map[*Calendar]*days{}
	for i, s := range c.subjects {
		if s.Deleted {
			continue
		}
		if read[s.calendar] == nil {
			read[s.calendar] = daysOf(s.calendar)
		}
		view := func() View {
			return View{
				Now: c.sight.Now, Calendar: clone(s.calendar), days: read[s.calendar], Active: slices.Clone(s.active), Last: clone(s.last), Skipped: s.Skipped,
				Ended: inOrderOfEnd(s.ended), Standing: s.Standing, Room: max(1, room/(len(c.subjects)-i)),
			}
		}
		plan, err := decide(s.Schedule, view())
		if err == nil && len(plan.Ask) > 0 {
			informed := view()
			if informed.Recorded, err = c.recorded(ctx, s.ID, plan.Ask); err == nil {
				plan, err = decide(s.Schedule, informed)
			}
		}
		if err != nil {
			return err
		}
		s.plan = plan
		if s.plan.Untouched {
			continue
		}
		room -= len(s.plan.Fires)
		c.outcome.Schedules++
	}
	c.subjects = slices.DeleteFunc(c.subjects, func(s *subject) bool { return s.plan.Untouched })
	return nil
}

// recorded returns which instants of a schedule have runs.
func (c *carrying) recorded(ctx context.Context, schedule int64, instants []time.Time) (map[time.Time]bool, error) {
	asked := make([]Instant, len(instants))
	for i, due := range instants {
		asked[i] = Instant{Schedule: schedule, Due: stored(due)}
	}
	found, err := c.tx.Taken(ctx, asked)
	if err != nil {
		return nil, err
	}
	recorded := make(map[time.Time]bool, len(found))
	for _, instant := range found {
		recorded[stored(instant.Due)] = true
	}
	return recorded, nil
}

// waiting returns the schedules whose plans touch what other transactions may hold.
func (c *carrying) waiting() []Waiting {
	var waiting []Waiting
	for _, s := range c.subjects {
		w := Waiting{Schedule: s.ID, Name: s.Name, Runs: slices.Concat(s.plan.Cancel, s.plan.Admit)}
		if slices.ContainsFunc(s.plan.Fires, func(fire PlannedFire) bool { return fire.Skip == "" }) {
			w.Key = s.Job.Key
		}
		if w.Key != "" || len(w.Runs)+len(s.ended) > 0 {
			waiting = append(waiting, w)
		}
	}
	return waiting
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// inOrderOfEnd sorts runs that have ended, for a View.
func inOrderOfEnd(runs []Fire) []Fire {
	return slices.SortedFunc(slices.Values(runs), func(a, b Fire) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), a.Due.Compare(b.Due), cmp.Compare(a.Job, b.Job))
	})
}

// cancel ends the runs whose place others take, before anything is stored that may need
// what they give back. Other runs than those that the decision has seen are left alone.
// One that has just ended stays as it is: the next tick sees it.
func (c *carrying) cancel(ctx context.Context) error {
	var jobs []int64
	for _, s := range c.subjects {
		for _, fire := range s.active {
			if slices.Contains(s.plan.Cancel, fire.Job) {
				jobs = append(jobs, fire.Job)
			}
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	slices.Sort(jobs)
	cancelled, err := c.tx.Cancel(ctx, jobs, "a later run of its schedule replaced it")
	if err != nil {
		return err
	}
	for _, s := range c.subjects {
		s.active = slices.DeleteFunc(s.active, func(fire Fire) bool {
			at, ended := cancelled[fire.Job]
			if ended {
				fire.State, fire.EndedAt = fairlead.Cancelled, at
				s.end(fire)
			}
			return ended
		})
	}
	return nil
}

// admit makes queued runs due.
func (c *carrying) admit(ctx context.Context) error {
	var runs []Fire
	for _, s := range c.subjects {
		for _, fire := range s.active {
			if fire.Queued && slices.Contains(s.plan.Admit, fire.Job) {
				runs = append(runs, fire)
			}
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return c.tx.Admit(ctx, runs)
}

// alert stores the jobs that report what has gone wrong.
func (c *carrying) alert(ctx context.Context) error {
	var alerts []*fairlead.Job
	for _, s := range c.subjects {
		for _, asked := range s.plan.Alerts {
			job := *asked
			if job.Trace == "" {
				job.Trace = newTrace()
			}
			alerts = append(alerts, &job)
		}
	}
	if len(alerts) == 0 {
		return nil
	}
	if err := envelope.NormalizeJobs(alerts); err != nil {
		return err
	}
	return c.tx.Alert(ctx, alerts)
}

// keep notes which runs have ended and how far the schedules have come.
func (c *carrying) keep(ctx context.Context) error {
	var ended []Fire
	var advanced []*Record
	for _, s := range c.subjects {
		ended = append(ended, s.ended...)
		if s.Deleted {
			continue
		}
		s.Cursor, s.Standing = s.plan.Cursor, s.plan.Standing
		s.CalendarVersion = versionOf(s.calendar)
		advanced = append(advanced, &s.Record)
	}
	if len(ended) > 0 {
		if err := c.tx.CloseFires(ctx, ended); err != nil {
			return err
		}
	}
	if len(advanced) == 0 {
		return nil
	}
	return c.tx.Advance(ctx, advanced)
}
