package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

const grace = 20 * time.Second

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// minutely is due every minute, and now at noon.
func minutely(change func(*schedule.Schedule)) schedule.Schedule {
	s := schedule.Schedule{ID: 1, Name: "minutely", Cron: "0 * * * * *", CreatedAt: noon.Add(-time.Hour), Job: fairlead.Job{Kind: "noop"}}
	s.Cursor = schedule.Cursor{Due: noon, FireAt: noon}
	change(&s)
	if err := schedule.Normalize(&s); err != nil {
		panic(err)
	}
	return s
}

func decided(s schedule.Schedule, v schedule.View) (schedule.Plan, error) { return s.Decide(v, grace) }

func manual(s schedule.Schedule, v schedule.View) schedule.Plan { return s.Manual(v, nil) }

// shown is a plan in words.
func shown(p schedule.Plan) string {
	text := ""
	for _, id := range p.Cancel {
		text += fmt.Sprintf("cancel %d, ", id)
	}
	for _, id := range p.Admit {
		text += fmt.Sprintf("admit %d, ", id)
	}
	for _, f := range p.Fires {
		switch {
		case f.Skip != "":
			text += fmt.Sprintf("skip #%d for %s, ", f.Number, f.Skip)
		case f.Queued:
			text += fmt.Sprintf("queue #%d, ", f.Number)
		default:
			text += fmt.Sprintf("run #%d, ", f.Number)
		}
	}
	if text == "" {
		return "nothing"
	}
	return text[:len(text)-2]
}

// situation is the state of a schedule when it is due.
type situation struct {
	overlap     schedule.Overlap
	failure     schedule.AfterFailure
	concurrency schedule.Concurrency
	limit       int // max_concurrency
	running     int
	queued      int
	failed      bool // the last run, which was the third attempt
	skipped     bool // one since then
}

// everySituation visits the full product of policies and states.
func everySituation(visit func(situation)) {
	for _, overlap := range []schedule.Overlap{schedule.OverlapAllow, schedule.OverlapSkip, schedule.OverlapCancel, schedule.OverlapParallel} {
		for _, failure := range []schedule.AfterFailure{schedule.FailureRunNew, schedule.FailureRetry, schedule.FailureSkip} {
			for _, concurrency := range []schedule.Concurrency{schedule.ConcurrencyQueue, schedule.ConcurrencySkip, schedule.ConcurrencyParallel} {
				for n := range 3 * 3 * 3 * 2 * 2 {
					visit(situation{overlap, failure, concurrency, n % 3, n / 3 % 3, n / 9 % 3, n/27%2 == 1, n/54%2 == 1})
				}
			}
		}
	}
}

const depth = 2 // of the queue

// expected is what the requirements say, in their own order.
func (s situation) expected() string {
	admitted := s.queued
	if s.limit > 0 {
		admitted = max(0, min(s.queued, s.limit-s.running))
	}
	number := 1
	if s.failed {
		number = 4
	}
	ends, active := s.admits(admitted), s.running+s.queued > 0
	running, queued := s.running+admitted, s.queued-admitted
	switch {
	case active && s.overlap == schedule.OverlapSkip:
		return ends + fmt.Sprintf("skip #%d for overlap", number)
	case active && s.overlap == schedule.OverlapCancel:
		ends, running, queued = s.cancels(), 0, 0
	}
	switch {
	case s.failed && s.failure == schedule.FailureRunNew:
		number = 1
	case s.failed && s.failure == schedule.FailureSkip && !s.skipped:
		return ends + "skip #4 for failure"
	case s.failed && s.failure == schedule.FailureSkip:
		number = 5
	}
	beside := active && s.overlap == schedule.OverlapParallel
	full := s.limit > 0 && running >= s.limit && !beside
	switch {
	case full && s.concurrency == schedule.ConcurrencyQueue && queued < depth:
		return ends + fmt.Sprintf("queue #%d", number)
	case full && s.concurrency != schedule.ConcurrencyParallel:
		return ends + fmt.Sprintf("skip #%d for concurrency", number)
	}
	return ends + fmt.Sprintf("run #%d", number)
}

func (s situation) admits(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("admit %d, ", 200+i)
	}
	return text
}

func (s situation) cancels() (text string) {
	for i := range s.running {
		text += fmt.Sprintf("cancel %d, ", 100+i)
	}
	for i := range s.queued {
		text += fmt.Sprintf("cancel %d, ", 200+i)
	}
	return text
}

func (s situation) schedule() schedule.Schedule {
	return minutely(func(schedule *schedule.Schedule) {
		schedule.Overlap, schedule.AfterFailure, schedule.Concurrency = s.overlap, s.failure, s.concurrency
		schedule.MaxConcurrency, schedule.QueueDepth = s.limit, depth
	})
}

func (s situation) view() schedule.View {
	v := schedule.View{Now: noon, Skipped: s.skipped, Last: &schedule.Fire{Job: 1, Number: 3, State: fairlead.Succeeded, EndedAt: noon.Add(-time.Minute)}}
	if s.failed {
		v.Last.State = fairlead.Failed
	}
	for i := range s.running {
		v.Active = append(v.Active, schedule.Fire{Job: 100 + int64(i), State: fairlead.Running})
	}
	for i := range s.queued {
		v.Active = append(v.Active, schedule.Fire{Job: 200 + int64(i), State: fairlead.Scheduled, Queued: true})
	}
	return v
}

func TestEveryCombinationOfPolicies(t *testing.T) {
	everySituation(func(s situation) {
		plan, err := decided(s.schedule(), s.view())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shown(plan), s.expected(); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
		if want := noon.Add(time.Minute); !plan.Cursor.Due.Equal(want) {
			t.Errorf("%+v: it is due at %v, want %v", s, plan.Cursor.Due, want)
		}
	})
}

func TestAManualRunAsksOnlyHowManyMayRun(t *testing.T) {
	everySituation(func(s situation) {
		plan := manual(s.schedule(), s.view())
		s.overlap, s.failed = schedule.OverlapAllow, false
		if got, want := shown(plan), s.expected(); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
		if plan.Cursor.Due != noon {
			t.Errorf("it moved the cursor to %v", plan.Cursor.Due)
		}
	})
}

// instants are the due instants of what a plan runs, as minutes before noon.
func instants(p schedule.Plan) (minutes []int) {
	for _, f := range p.Fires {
		minutes = append(minutes, int(noon.Sub(f.Due)/time.Minute))
	}
	return minutes
}

func TestMissedInstantsAreCaughtUpAsAsked(t *testing.T) {
	for _, c := range []struct {
		mode   schedule.CatchUp
		late   time.Duration
		limit  int
		window time.Duration
		want   []int
	}{
		{schedule.CatchUpNone, 0, 0, 0, []int{0}},
		{schedule.CatchUpNone, 10 * time.Minute, 0, 0, []int{0}},
		{schedule.CatchUpCompact, 10 * time.Minute, 0, 0, []int{1, 0}},
		{schedule.CatchUpFull, 3 * time.Minute, 0, 0, []int{3, 2, 1, 0}},
		{schedule.CatchUpFull, time.Hour, 5, 0, []int{5, 4, 3, 2, 1, 0}},
		{schedule.CatchUpFull, time.Hour, 0, 4 * time.Minute, []int{4, 3, 2, 1, 0}},
		{schedule.CatchUpFull, 20 * 365 * 24 * time.Hour, 2, 0, []int{2, 1, 0}},
	} {
		s := minutely(func(s *schedule.Schedule) {
			s.CatchUp, s.CatchUpLimit, s.CatchUpWindow = c.mode, c.limit, c.window
			s.Due = noon.Add(-c.late)
		})
		plan, err := decided(s, schedule.View{Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		if got := instants(plan); !slices.Equal(got, c.want) {
			t.Errorf("%v late, %s: ran %v, want %v", c.late, c.mode, got, c.want)
		}
		for _, f := range plan.Fires {
			if want := f.Due.Before(noon); want != (f.Trigger == schedule.TriggerCatchUp) {
				t.Errorf("%v late, %s: %v was triggered by %s", c.late, c.mode, f.Due, f.Trigger)
			}
		}
	}
}

func TestWhatIsALittleLateIsNotMissed(t *testing.T) {
	s := minutely(func(s *schedule.Schedule) { s.Cron = "* * * * * *"; s.Due = noon.Add(-5 * time.Second) })
	plan, err := decided(s, schedule.View{Now: noon})
	if err != nil || len(plan.Fires) != 6 {
		t.Errorf("%d runs were made (%v), want 6", len(plan.Fires), err)
	}
}

func TestAScheduleThatIsNotEnabledOnlyLetsGoWhatIsQueued(t *testing.T) {
	s := minutely(func(s *schedule.Schedule) { s.MaxConcurrency = 1; s.Disabled = true })
	v := schedule.View{Now: noon, Active: []schedule.Fire{{Job: 200, State: fairlead.Scheduled, Queued: true}}}
	plan, err := decided(s, v)
	if err != nil || shown(plan) != "admit 200" || plan.Cursor != s.Cursor {
		t.Errorf("it plans %s and %v (%v)", shown(plan), plan.Cursor, err)
	}
}

func TestOnlyTheLastOfSeveralReplacesEarlierRuns(t *testing.T) {
	s := minutely(func(s *schedule.Schedule) {
		s.Overlap, s.CatchUp, s.Due = schedule.OverlapCancel, schedule.CatchUpFull, noon.Add(-2*time.Minute)
	})
	plan, err := decided(s, schedule.View{Now: noon, Active: []schedule.Fire{{Job: 100, State: fairlead.Running}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(plan), "cancel 100, skip #1 for overlap, skip #1 for overlap, run #1"; got != want {
		t.Errorf("it plans %s, want %s", got, want)
	}
}

func TestADelayCountsFromTheEndOfTheLastRun(t *testing.T) {
	s := minutely(func(s *schedule.Schedule) { s.Cron, s.Delay = "", 10*time.Second })
	decide := func(v schedule.View) schedule.Plan {
		t.Helper()
		plan, err := decided(s, v)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	plan := decide(schedule.View{Now: noon})
	if shown(plan) != "run #1" || !plan.Cursor.Due.IsZero() {
		t.Fatalf("at first it plans %s and %v", shown(plan), plan.Cursor)
	}
	s.Cursor = plan.Cursor
	if plan = decide(schedule.View{Now: noon, Active: []schedule.Fire{{Job: 1, State: fairlead.Running}}}); shown(plan) != "nothing" || !plan.Cursor.Due.IsZero() {
		t.Fatalf("while it runs it plans %s and %v", shown(plan), plan.Cursor)
	}
	ended := noon.Add(3 * time.Second)
	last := &schedule.Fire{Job: 1, Number: 1, State: fairlead.Succeeded, EndedAt: ended}
	if plan = decide(schedule.View{Now: ended, Last: last}); shown(plan) != "nothing" || !plan.Cursor.Due.Equal(ended.Add(10*time.Second)) {
		t.Fatalf("when it has ended it plans %s and %v", shown(plan), plan.Cursor)
	}
	s.Cursor = plan.Cursor
	if plan = decide(schedule.View{Now: ended.Add(10 * time.Second), Last: last}); shown(plan) != "run #1" {
		t.Fatalf("then it plans %s", shown(plan))
	}
}

func TestAnInstantOfItsOwnIsRunOnce(t *testing.T) {
	s := minutely(func(s *schedule.Schedule) { s.Cron, s.At = "", noon })
	plan, err := decided(s, schedule.View{Now: noon.Add(time.Second)})
	if err != nil || shown(plan) != "run #1" || !plan.Cursor.Due.IsZero() {
		t.Errorf("it plans %s and %v (%v)", shown(plan), plan.Cursor, err)
	}
	s.CatchUp = schedule.CatchUpCompact
	plan, err = decided(s, schedule.View{Now: noon.Add(time.Hour)})
	if err != nil || shown(plan) != "run #1" || plan.Fires[0].Trigger != schedule.TriggerCatchUp {
		t.Errorf("an hour late it plans %s (%v)", shown(plan), err)
	}
}

func TestManyInstantsAreActedUponOneLookAfterTheOther(t *testing.T) {
	s := minutely(func(s *schedule.Schedule) { s.Cron = "* * * * * *"; s.Due = noon.Add(-1499 * time.Second) })
	seen := map[time.Time]bool{}
	for range 2 {
		plan, err := s.Decide(schedule.View{Now: noon}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Fires) > 1000 {
			t.Fatalf("%d instants were acted upon at once", len(plan.Fires))
		}
		for _, f := range plan.Fires {
			seen[f.Due] = true
		}
		s.Cursor = plan.Cursor
	}
	if len(seen) != 1500 || !s.Due.Equal(noon.Add(time.Second)) {
		t.Errorf("%d instants were acted upon, and the next is %v", len(seen), s.Due)
	}
}
