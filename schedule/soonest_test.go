package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// wantSoonest expects the names of the schedules that fire next.
func (p *planning) wantSoonest(when string, want ...string) {
	p.Helper()
	found, err := p.client.List(p.Context(), schedule.Filter{Soonest: true})
	p.ok(err)
	var names []string
	for _, s := range found {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, want) {
		p.Errorf("%s the soonest are %v, want %v", when, names, want)
	}
}

func TestTheSoonestAreListedInTheOrderInWhichTheyFire(t *testing.T) {
	p := newPlanning(t)
	kind := fairlead.Job{Kind: "k"}
	p.put(schedule.Schedule{Name: "a", Every: 3 * time.Hour, Job: kind})
	p.put(schedule.Schedule{Name: "b", Every: time.Hour, Job: kind})
	p.put(schedule.Schedule{Name: "c", Every: 2 * time.Hour, Job: kind, Disabled: true})
	p.put(schedule.Schedule{Name: "d", At: noon.Add(2 * time.Hour), Job: kind})
	p.wantSoonest("at first", "b", "d", "a")
}

func TestTheSoonestGoByACalendarThatHasJustChanged(t *testing.T) {
	p := newPlanning(t)
	kind := fairlead.Job{Kind: "k"}
	calendar, err := p.client.PutCalendar(t.Context(), schedule.Calendar{Name: "c"})
	p.ok(err)
	p.put(schedule.Schedule{Name: "first", Every: time.Hour, Calendar: "c", Job: kind})
	p.put(schedule.Schedule{Name: "only today", At: noon.Add(2 * time.Hour), Calendar: "c", Job: kind})
	p.put(schedule.Schedule{Name: "free", Every: 3 * time.Hour, Job: kind})
	p.wantSoonest("before the change", "first", "only today", "free")
	calendar.Dates = []string{noon.Format(time.DateOnly)}
	_, err = p.client.PutCalendar(t.Context(), calendar)
	p.ok(err)
	p.wantSoonest("after the change", "free", "first")
}

func TestAScheduleWhoseInstantIsOnlySearchedAgainIsNotAmongTheSoonest(t *testing.T) {
	p := newPlanning(t)
	calendar, err := p.client.PutCalendar(t.Context(), schedule.Calendar{Name: "c"})
	p.ok(err)
	s := p.put(schedule.Schedule{Name: "s", Every: time.Hour, Calendar: "c", Job: fairlead.Job{Kind: "k"}})
	p.wantSoonest("while days are free", "s")
	calendar.Weekdays = []time.Weekday{0, 1, 2, 3, 4, 5, 6}
	_, err = p.client.PutCalendar(t.Context(), calendar)
	p.ok(err)
	p.wantSoonest("once none is free")
	_, err = p.store.Tick(t.Context(), 10, func(s schedule.Schedule, v schedule.View) schedule.Plan {
		plan, err := s.Decide(v, time.Minute)
		p.ok(err)
		return plan
	})
	p.ok(err)
	if stored, err := p.store.Schedules(t.Context(), schedule.Filter{IDs: []int64{s.ID}}); err != nil || stored[0].FireAt.IsZero() || !stored[0].Due.IsZero() {
		t.Fatalf("it is stored as %+v, %v", stored, err)
	}
	p.wantSoonest("once a node has acted upon it")
}

func TestTheSoonestAreNotChosenByAnythingElse(t *testing.T) {
	p := newPlanning(t)
	for name, filter := range map[string]schedule.Filter{
		"ids": {IDs: []int64{1}}, "names": {Names: []string{"s"}}, "tenants": {Tenants: []string{"acme"}}, "a page": {After: "s"}, "disabled": {Enabled: new(false)},
	} {
		filter.Soonest = true
		if _, err := p.client.List(t.Context(), filter); !onlyField(err, "soonest") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := p.client.List(t.Context(), schedule.Filter{Soonest: true, Enabled: new(true), Limit: 1})
	p.ok(err)
}
