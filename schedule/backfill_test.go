package schedule

import (
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// hourly is due each hour.
func hourly(do func(s *Schedule)) Schedule {
	s := Schedule{ID: 7, Name: "s", Cron: "0 * * * *", Job: fairlead.Job{Kind: "k"}}
	do(&s)
	if err := Normalize(&s); err != nil {
		panic(err)
	}
	return s
}

func TestABackfillNamesWhatIsWrong(t *testing.T) {
	hours := func(n int) time.Time { return november.Add(time.Duration(n) * time.Hour) }
	for name, c := range map[string]struct {
		do    func(s *Schedule)
		span  Backfill
		field string
	}{
		"no beginning":              {func(*Schedule) {}, Backfill{To: hours(0)}, "to"},
		"no end":                    {func(*Schedule) {}, Backfill{From: hours(-1)}, "to"},
		"an end at the beginning":   {func(*Schedule) {}, Backfill{From: hours(-1), To: hours(-1)}, "to"},
		"an end that is to come":    {func(*Schedule) {}, Backfill{From: hours(-1), To: hours(0).Add(1)}, "to"},
		"a delay":                   {func(s *Schedule) { s.Cron, s.Delay = "", time.Hour }, Backfill{From: hours(-1), To: hours(0)}, "id"},
		"an instant":                {func(s *Schedule) { s.Cron, s.At = "", hours(-1) }, Backfill{From: hours(-2), To: hours(0)}, "id"},
		"nothing between":           {func(*Schedule) {}, Backfill{From: hours(-1).Add(time.Microsecond), To: hours(0)}, "from"},
		"more runs than one may do": {func(*Schedule) {}, Backfill{From: hours(-MaxBackfill - 1), To: hours(0)}, "to"},
	} {
		s := hourly(c.do)
		_, _, err := s.backfill(View{Now: hours(0)}, c.span)
		var invalid *fairlead.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != c.field {
			t.Errorf("%s: got %v, want %s to be named", name, err, c.field)
		}
	}
	s := hourly(func(*Schedule) {})
	if plan, _, err := s.backfill(View{Now: hours(0)}, Backfill{From: hours(-MaxBackfill), To: hours(0), Again: true}); err != nil || len(plan.Fires) != MaxBackfill {
		t.Errorf("the most that may be makes %d runs: %v", len(plan.Fires), err)
	}
	s.Broken = "cannot be read"
	if _, _, err := s.backfill(View{Now: hours(0)}, Backfill{From: hours(-1), To: hours(0)}); !errors.Is(err, fairlead.ErrConflict) {
		t.Errorf("a schedule that cannot be read: got %v", err)
	}
}

func TestABackfillRunsEachInstantOfItsSpanInTheOrderThatIsAskedFor(t *testing.T) {
	hours := func(n int) time.Time { return november.Add(time.Duration(n) * time.Hour) }
	s := hourly(func(s *Schedule) { s.MaxConcurrency, s.QueueDepth = 2, 1 })
	for name, c := range map[string]struct {
		span   Backfill
		runs   string // r runs, q is queued, s is skipped
		serial bool
	}{
		"the oldest first":                       {Backfill{From: hours(-4), To: hours(0)}, "rrqs", false},
		"the newest first":                       {Backfill{From: hours(-4), To: hours(0), Newest: true}, "rrqs", false},
		"one after the other":                    {Backfill{From: hours(-4), To: hours(0), Serial: true}, "rrrr", true},
		"one after the other, the newest before": {Backfill{From: hours(-4), To: hours(0), Serial: true, Newest: true}, "rrrr", true},
	} {
		plan, passedOver, err := s.backfill(View{Now: hours(0), Recorded: map[time.Time]bool{hours(-9): true}}, c.span)
		if err != nil {
			t.Fatal(err)
		}
		if passedOver != 0 {
			t.Errorf("%s: it passes over %d instants", name, passedOver)
		}
		runs := ""
		for i, f := range plan.Fires {
			switch {
			case f.Skip != "":
				runs += "s"
			case f.Queued:
				runs += "q"
			default:
				runs += "r"
			}
			if !f.Due.Equal(hours(i-4)) || f.Trigger != TriggerBackfill || f.Number != 1 || (f.Serial != "") != c.serial {
				t.Errorf("%s: run %d is %+v", name, i, f)
			}
			if i > 0 && f.Order.Before(plan.Fires[i-1].Order) != c.span.Newest {
				t.Errorf("%s: run %d comes at %v behind %v", name, i, f.Order, plan.Fires[i-1].Order)
			}
			if f.Serial != plan.Fires[0].Serial {
				t.Errorf("%s: run %d does not wait for the others", name, i)
			}
		}
		if runs != c.runs {
			t.Errorf("%s: got %s, want %s", name, runs, c.runs)
		}
	}
}

// A recorded instant takes no place of those that are still to run.
func TestABackfillPassesOverInstantsThatHaveARun(t *testing.T) {
	hours := func(n int) time.Time { return november.Add(time.Duration(n) * time.Hour) }
	s := hourly(func(s *Schedule) { s.MaxConcurrency, s.Concurrency = 1, ConcurrencySkip })
	span := Backfill{From: hours(-3), To: hours(0)}
	asks, _, err := s.backfill(View{Now: hours(0)}, span)
	if err != nil || len(asks.Ask) != 3 || len(asks.Fires) != 0 {
		t.Fatalf("at first it plans %+v: %v", asks, err)
	}
	recorded := map[time.Time]bool{hours(-3): true, hours(-2): true}
	plan, passedOver, err := s.backfill(View{Now: hours(0), Recorded: recorded}, span)
	if err != nil || passedOver != 2 || len(plan.Fires) != 1 || plan.Fires[0].Skip != "" || !plan.Fires[0].Due.Equal(hours(-1)) {
		t.Errorf("it passes over %d and plans %+v: %v", passedOver, plan, err)
	}
}
