package console

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// oneByOne counts fires as fires does, but walks from instant to instant.
func (p *plan) oneByOne(from, to time.Time) map[int]int {
	found, offset := map[int]int{}, p.timing.Offset()
	for due := p.timing.Next(instantBefore(from.Add(-offset))); !due.IsZero() && due.Add(offset).Before(to); due = p.timing.Next(due) {
		found[int(due.Add(offset).Sub(from)/time.Minute)]++
	}
	return found
}

func TestFiresAreThoseOfAWalkFromInstantToInstant(t *testing.T) {
	calendar := &fairleadv1.Calendar{Name: "feast", Weekdays: []string{"sunday"}, Dates: []string{"03-30", "2026-10-26"}}
	timings := map[string]*fairleadv1.Schedule{
		"hourly":             {Cron: proto.String("0 * * * *")},
		"each minute":        {Cron: proto.String("* * * * *")},
		"each ten seconds":   {Cron: proto.String("*/10 * 1-3 * * *")},
		"at night":           {Cron: proto.String("30 2 * * *")},
		"some minutes":       {Cron: proto.String("5,17,59 0-4,23 * * 1-6")},
		"an interval":        {Every: durationpb.New(7 * time.Minute)},
		"seconds":            {Every: durationpb.New(1500 * time.Millisecond)},
		"an odd interval":    {Every: durationpb.New(61*time.Second + 7*time.Millisecond)},
		"written every":      {Cron: proto.String("@every 90s")},
		"times of day":       {Daily: proto.String("00:00, 02:30, 03:00, 23:59")},
		"longer than a week": {Every: durationpb.New(200 * time.Hour)},
	}
	zones := []string{"UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"}
	windows := []time.Time{time.Date(2026, 3, 26, 5, 0, 0, 0, time.UTC), time.Date(2026, 10, 22, 5, 30, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	for name, timing := range timings {
		for _, zone := range zones {
			for i, from := range windows {
				s := proto.CloneOf(timing)
				s.Name, s.Timezone, s.CreatedAt = proto.String(name+zone), &zone, timestamppb.New(from.Add(-31*time.Hour-17*time.Second))
				s.Job = &fairleadv1.NewJob{}
				switch i {
				case 0:
					s.Calendar, s.Jitter = proto.String("feast"), durationpb.New(17*time.Minute)
				case 1:
					s.StartsAt, s.EndsAt = timestamppb.New(from.Add(25*time.Hour+20*time.Minute)), timestamppb.New(from.Add(150*time.Hour+40*time.Minute))
				}
				t.Run(fmt.Sprint(name, "/", zone, "/", i), func(t *testing.T) {
					var of *fairleadv1.Calendar
					if s.Calendar != nil {
						of = calendar
					}
					p, err := planOf(s, of)
					if err != nil {
						t.Fatal(err)
					}
					to := from.Add(7 * 24 * time.Hour)
					got := map[int]int{}
					p.fires(from, to, func(minute, n int) { got[minute] += n })
					if want := p.oneByOne(from, to); !maps.Equal(got, want) {
						t.Errorf("%d minutes have fires, want %d", len(got), len(want))
						for minute := range 7 * 24 * 60 {
							if got[minute] != want[minute] {
								t.Fatalf("%v has %d fires, want %d", from.Add(time.Duration(minute)*time.Minute), got[minute], want[minute])
							}
						}
					}
				})
			}
		}
	}
}

func TestOnlyTheNextFireOfADelayIsForeseen(t *testing.T) {
	from := time.Date(2026, 3, 26, 5, 0, 0, 0, time.UTC)
	s := &fairleadv1.Schedule{Name: proto.String("poll"), Delay: durationpb.New(time.Minute), NextFire: timestamppb.New(from.Add(90 * time.Second))}
	p, err := planOf(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]int{}
	p.fires(from, from.Add(time.Hour), func(minute, n int) { got[minute] += n })
	if !maps.Equal(got, map[int]int{1: 1}) {
		t.Errorf("the fires are %v", got)
	}
	p.NextFire = nil // it waits for the end of a run
	p.fires(from, from.Add(time.Hour), func(minute, _ int) { t.Errorf("it fires in minute %d", minute) })
}

func TestAWeekOfADenseScheduleIsCountedInFewSteps(t *testing.T) {
	from := time.Date(2026, 3, 26, 5, 0, 0, 0, time.UTC)
	for name, s := range map[string]*fairleadv1.Schedule{"cron": {Cron: proto.String("* * * * * *")}, "every": {Every: durationpb.New(time.Second), CreatedAt: timestamppb.New(from)}} {
		s.Name = proto.String("dense")
		p, err := planOf(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		fires, steps := 0, 0
		p.fires(from, from.Add(7*24*time.Hour), func(_, n int) { fires, steps = fires+n, steps+1 })
		if fires != 7*24*3600 || steps > 7*24*60+3600 {
			t.Errorf("%s: %d fires in %d steps", name, fires, steps)
		}
	}
}

func TestAScheduleThatCannotBeReadIsNoPlan(t *testing.T) {
	for _, s := range []*fairleadv1.Schedule{{}, {Cron: proto.String("nonsense")}, {Cron: proto.String("* * * * *"), Timezone: proto.String("Mars/Olympus")}} {
		if _, err := planOf(s, nil); err == nil || wordsOf(s) != "" {
			t.Errorf("%v is read as %q", s, wordsOf(s))
		}
	}
}
