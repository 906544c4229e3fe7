package schedule_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

// planning is a database with schedules, and a clock that is moved by hand.
type planning struct {
	*testing.T
	now    time.Time
	store  *sqlite.Store
	client *schedule.Client
}

func newPlanning(t *testing.T) *planning {
	t.Helper()
	p := &planning{T: t, now: noon}
	store := sqlitetest.OpenWith(t, sqlite.Options{Clock: func() time.Time { return p.now }})
	t.Cleanup(func() { _ = store.Close() })
	p.store, p.client = store, schedule.NewClient(store)
	return p
}

func (p *planning) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatalf("unexpected error: %v", err)
	}
}

func (p *planning) put(s schedule.Schedule) schedule.Schedule {
	p.Helper()
	stored, err := p.client.Put(p.Context(), s)
	p.ok(err)
	return stored
}

func TestAScheduleThatIsChangedCountsFromNowOnIfWhenItIsDueHasChanged(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		begin    schedule.Schedule
		change   func(s *schedule.Schedule)
		restarts bool
	}{
		"its description": {schedule.Schedule{Every: 7 * time.Hour}, func(s *schedule.Schedule) { s.Description = "d" }, false},
		"its job":         {schedule.Schedule{Every: 7 * time.Hour}, func(s *schedule.Schedule) { s.Job.Priority = 3 }, false},
		"its rate":        {schedule.Schedule{Every: 7 * time.Hour}, func(s *schedule.Schedule) { s.Every = 8 * time.Hour }, true},
		"its cron":        {schedule.Schedule{Cron: "0 0 * * *"}, func(s *schedule.Schedule) { s.Cron = "0 1 * * *" }, true},
		"its delay":       {schedule.Schedule{Delay: time.Hour}, func(s *schedule.Schedule) { s.Delay = 2 * time.Hour }, true},
		"its times":       {schedule.Schedule{Daily: "00:00"}, func(s *schedule.Schedule) { s.Daily = "01:00" }, true},
		"its instant":     {schedule.Schedule{At: noon.Add(day)}, func(s *schedule.Schedule) { s.At = noon.Add(2 * day) }, true},
		"its zone":        {schedule.Schedule{Daily: "00:00"}, func(s *schedule.Schedule) { s.Zone = "Asia/Tokyo" }, true},
		"its start":       {schedule.Schedule{Daily: "00:00"}, func(s *schedule.Schedule) { s.StartsAt = noon.Add(30 * day) }, true},
		"its end":         {schedule.Schedule{Daily: "00:00"}, func(s *schedule.Schedule) { s.EndsAt = noon.Add(30 * day) }, true},
		"its calendar":    {schedule.Schedule{Daily: "00:00"}, func(s *schedule.Schedule) { s.Calendar = "c" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanning(t)
			_, err := p.client.PutCalendar(t.Context(), schedule.Calendar{Name: "c", Dates: []string{"2030-01-01"}})
			p.ok(err)
			c.begin.Name, c.begin.Job = "s", fairlead.Job{Kind: "k"}
			s := p.put(c.begin)
			// No node acts upon it for ten days: what was due is still to be done if it goes on.
			p.now = noon.Add(10 * day)
			if !c.begin.At.IsZero() {
				p.now = noon
			}
			before := s.Due
			c.change(&s)
			after := p.put(s)
			if goesOn := after.Due.Equal(before); goesOn == c.restarts || c.restarts && after.Due.Before(p.now) {
				t.Errorf("it was due at %v, and is now at %v", before, after.Due)
			}
			if !after.CreatedAt.Equal(noon) {
				t.Errorf("it was made at %v", after.CreatedAt)
			}
		})
	}
}

func TestAScheduleThatIsEnabledAgainCountsFromNowOn(t *testing.T) {
	p := newPlanning(t)
	s := p.put(schedule.Schedule{Name: "s", Cron: "0 * * * *", Job: fairlead.Job{Kind: "k"}})
	off, err := p.client.Disable(t.Context(), s.ID, "holiday")
	p.ok(err)
	if !off.Disabled || off.Reason != "holiday" || !off.Due.IsZero() {
		t.Errorf("it is %+v", off)
	}
	same, err := p.client.Disable(t.Context(), s.ID, "holiday")
	p.ok(err)
	if same.Version != off.Version {
		t.Error("what was said before is stored again")
	}
	other, err := p.client.Disable(t.Context(), s.ID, "another")
	p.ok(err)
	if other.Reason != "another" {
		t.Errorf("the reason is still %q", other.Reason)
	}
	p.now = noon.Add(90 * time.Minute)
	on, err := p.client.Enable(t.Context(), s.ID)
	p.ok(err)
	if want := noon.Add(2 * time.Hour); on.Disabled || on.Reason != "" || !on.Due.Equal(want) {
		t.Errorf("it is %+v, want it to be due at %v", on, want)
	}
}

func TestWhatThereIsNotIsNotFound(t *testing.T) {
	p := newPlanning(t)
	for what, ask := range map[string]func() error{
		"a name":   func() error { _, err := p.client.Get(t.Context(), "s"); return err },
		"an id":    func() error { _, err := p.client.ByID(t.Context(), 7); return err },
		"enabling": func() error { _, err := p.client.Enable(t.Context(), 7); return err },
		"a change": func() error {
			_, err := p.client.Put(t.Context(), schedule.Schedule{ID: 7, Version: 1, Name: "s", Cron: "@daily", Job: fairlead.Job{Kind: "k"}})
			return err
		},
	} {
		if err := ask(); !errors.Is(err, fairlead.ErrNotFound) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	_, err := p.client.Preview(t.Context(), schedule.Schedule{Name: "s", Cron: "@daily", Calendar: "c", Job: fairlead.Job{Kind: "k"}}, 3)
	if !onlyField(err, "calendar") {
		t.Errorf("a calendar that does not exist: got %v", err)
	}
	if _, err := p.client.Trigger(t.Context(), 7, []byte("{")); !onlyField(err, "args") {
		t.Errorf("args that are no JSON: got %v", err)
	}
}

func TestAPreviewListsTheNextInstants(t *testing.T) {
	hours := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	p := newPlanning(t)
	p.now = hours(0).Add(time.Minute)
	for name, c := range map[string]struct {
		schedule schedule.Schedule
		want     []time.Time
	}{
		"by cron":                    {schedule.Schedule{Cron: "0 * * * *"}, []time.Time{hours(1), hours(2), hours(3)}},
		"at a rate, from now on":     {schedule.Schedule{Every: time.Hour}, []time.Time{p.now.Add(time.Hour), p.now.Add(2 * time.Hour), p.now.Add(3 * time.Hour)}},
		"at a rate by cron":          {schedule.Schedule{Cron: "@every 1h"}, []time.Time{p.now.Add(time.Hour), p.now.Add(2 * time.Hour), p.now.Add(3 * time.Hour)}},
		"at a rate since it is made": {schedule.Schedule{Every: time.Hour, CreatedAt: hours(-9)}, []time.Time{hours(1), hours(2), hours(3)}},
		"from its start on":          {schedule.Schedule{Cron: "0 * * * *", StartsAt: hours(5)}, []time.Time{hours(5), hours(6), hours(7)}},
		"up to its end":              {schedule.Schedule{Cron: "0 * * * *", EndsAt: hours(3)}, []time.Time{hours(1), hours(2)}},
		"once":                       {schedule.Schedule{At: hours(4)}, []time.Time{hours(4)}},
		"after a delay":              {schedule.Schedule{Delay: time.Hour}, []time.Time{p.now}},
	} {
		c.schedule.Name, c.schedule.Job = "s", fairlead.Job{Kind: "k"}
		got, err := p.client.Preview(t.Context(), c.schedule, 3)
		p.ok(err)
		same := len(got) == len(c.want)
		for i := 0; same && i < len(got); i++ {
			same = got[i].Equal(c.want[i])
		}
		if !same {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestAJobLeadsToTheRunThatItIs(t *testing.T) {
	p := newPlanning(t)
	s := p.put(schedule.Schedule{Name: "hourly", Every: time.Hour, Job: fairlead.Job{Kind: "report"}})
	made, err := p.client.Trigger(t.Context(), s.ID, nil)
	p.ok(err)
	fire, err := p.client.FireOf(t.Context(), made.Job)
	p.ok(err)
	if fire.Schedule != s.ID || fire.Job != made.Job || !fire.Due.Equal(made.Due) {
		t.Errorf("the run of job %d is %+v, not %+v", made.Job, fire, made)
	}
	job := &fairlead.Job{Kind: "report"}
	p.ok(fairlead.NewClient(p.store).Enqueue(t.Context(), job))
	if _, err := p.client.FireOf(t.Context(), job.ID); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("a job that no schedule made: %v", err)
	}
}
