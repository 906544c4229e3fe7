package sweep_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// Nine items a minute fail for long, and nothing happens. Then there are ten.
func TestASweepStopsWhenTooManyItemsOfAMinuteComeToNothing(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2), budget(sweep.Budget{PerMinute: 10})))
	runs := s.claim(2)
	abandoned := int64(0)
	for second := range 300 {
		s.passed.Add(int64(time.Second))
		if second%7 == 0 { // eight or nine within a minute
			abandoned++
			if orders := s.checkpoint(runs[0], 0, abandoned, false); orders.Stop || orders.Left < 1 {
				t.Fatalf("after %d seconds the orders are %+v", second, orders)
			}
		}
		if looked := s.look(sw); looked.State != sweep.Running || len(s.ledger(sw).Lately) > 12 {
			t.Fatalf("after %d seconds it stands as %+v", second, looked.Status)
		}
	}
	s.checkpoint(runs[1], 0, 3, false)
	stopping := s.look(sw)
	s.wantState(stopping, sweep.Stopping)
	if stopping.Reason != "10 items failed within a minute" && stopping.Reason != "11 items failed within a minute" {
		t.Fatalf("the reason is %q", stopping.Reason)
	}
	s.end(runs...)
	s.wantState(s.look(sw), sweep.Stopped)
	s.start(sw)
	if orders := s.checkpoint(s.claim(1)[0], 0, abandoned+4, false); orders.Stop || orders.Left != 6 {
		t.Fatalf("once it is started again the orders are %+v", orders)
	}
}

func TestWhyASweepStopsNamesTheMinuteIfThatIsWhy(t *testing.T) {
	for name, c := range map[string]struct {
		budget sweep.Budget
		want   string
	}{
		"of a minute":            {sweep.Budget{PerMinute: 10}, "10 items failed within a minute"},
		"in all, before the one": {sweep.Budget{Items: 10, PerMinute: 11}, "10 items failed"},
	} {
		s := newScrubbing(t)
		sw := s.start(s.put(func(w *sweep.Sweep) { w.Name = name }, budget(c.budget)))
		run := s.claim(1)[0]
		s.look(sw)
		s.checkpoint(run, 0, 10, false)
		if stopping := s.look(sw); stopping.State != sweep.Stopping || stopping.Reason != c.want {
			t.Errorf("%s: it is %s for %q, want %q", name, stopping.State, stopping.Reason, c.want)
		}
	}
}

// What was done before it was last started does not excuse what fails since.
func TestAPercentageCountsSinceTheLastStart(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(func(w *sweep.Sweep) { w.To = 100_000 }, budget(sweep.Budget{Percent: 1})))
	run := s.claim(1)[0]
	s.checkpoint(run, 50_000, 0, false)
	s.stop(sw)
	s.end(run)
	s.look(sw)
	s.start(sw)
	run = s.claim(1)[0]
	if orders := s.checkpoint(run, 50_985, 5, false); orders.Left != -1 {
		t.Fatalf("after fewer than 1000 items the orders are %+v", orders)
	}
	if orders := s.checkpoint(run, 50_995, 5, false); orders.Left != 5 {
		t.Fatalf("after 1000 items the orders are %+v", orders)
	}
	s.checkpoint(run, 50_995, 11, false)
	s.wantState(s.look(sw), sweep.Stopping)
}

func TestABudgetPerMinuteIsChecked(t *testing.T) {
	s := sweep.Sweep{Name: "n", Kind: "k", To: 1, Budget: sweep.Budget{PerMinute: -1}}
	var invalid *fairlead.InvalidError
	if err := sweep.Normalize(&s); !errors.As(err, &invalid) || invalid.Fields[0].Field != "error_budget.per_minute" {
		t.Errorf("it was answered with %v", err)
	}
	s.Budget.PerMinute = 5
	if err := sweep.Normalize(&s); err != nil || s.Budget.Items != 0 {
		t.Errorf("a budget per minute alone became %+v, %v", s.Budget, err)
	}
}
