package message

import (
	"math"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/sweep"
)

func TestTheEndOfASweepIsGuessedWhileThatSaysSomething(t *testing.T) {
	guessedAt := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	running := sweep.Sweep{Status: sweep.Status{State: sweep.Running, Progress: sweep.Progress{Total: 100, Done: 30, Abandoned: 20, Rate: 5}}}
	for name, c := range map[string]struct {
		change func(*sweep.Sweep)
		want   time.Duration // zero: nothing is said
	}{
		"half done":                 {func(*sweep.Sweep) {}, 10 * time.Second},
		"with items to try again":   {func(s *sweep.Sweep) { s.Progress.Again = 10 }, 12 * time.Second},
		"nothing left":              {func(s *sweep.Sweep) { s.Progress.Done = 80 }, 0},
		"without a rate":            {func(s *sweep.Sweep) { s.Progress.Rate = 0 }, 0},
		"stopped":                   {func(s *sweep.Sweep) { s.State = sweep.Stopped }, 0},
		"in more than a human life": {func(s *sweep.Sweep) { s.Progress.Rate = 1e-9 }, 0},
		"never":                     {func(s *sweep.Sweep) { s.Progress.Rate = math.SmallestNonzeroFloat64 }, 0},
	} {
		s := running
		c.change(&s)
		eta := progressOf(&s, guessedAt).GetEta()
		if c.want == 0 && eta != nil || c.want != 0 && !eta.AsTime().Equal(guessedAt.Add(c.want)) {
			t.Errorf("%s: it is guessed for %v, want %v", name, eta.AsTime(), c.want)
		}
	}
}
