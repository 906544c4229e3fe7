package sweep_test

import (
	"testing"

	"github.com/fairlead-io/fairlead/sweep"
)

func TestASweepIsCutIntoPartsThatAreAsLongAsEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		from, to int64
		shards   int
		want     int
		change   func(*sweep.Sweep)
	}{
		"one":             {0, 1000, 1, 1, nil},
		"even":            {0, 1000, 4, 4, nil},
		"uneven":          {7, 1000, 16, 16, nil},
		"few items":       {5, 8, 10, 3, nil},
		"one item":        {5, 6, 10, 1, nil},
		"quintillion":     {0, 1_000_000_000_000_000_000, 1000, 1000, nil},
		"odd quintillion": {1, 999_999_999_999_999_999, 997, 997, nil},
		"serial":          {0, 1000, 1, 1, serially},
		"unknown":         {5, 0, 8, 1, func(w *sweep.Sweep) { w.Source.File = "users.txt" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScrubbing(t)
			sweep := s.start(s.put(func(w *sweep.Sweep) {
				w.From, w.To, w.Shards, w.InFlight = c.from, c.to, c.shards, 1000
				if c.change != nil {
					c.change(w)
				}
			}))
			shards := s.shards(sweep.ID)
			if len(shards) != c.want {
				t.Fatalf("it has %d shards, want %d", len(shards), c.want)
			}
			at, shortest, longest := c.from, int64(1)<<62, int64(0)
			for i, sh := range shards {
				if sh.Number != i || sh.From != at || sh.Mark != at || sh.Ended || sh.Job == 0 {
					t.Fatalf("shard %d behind %d is %+v", i, at, sh)
				}
				at = sh.To
				shortest, longest = min(shortest, sh.To-sh.From), max(longest, sh.To-sh.From)
			}
			if at != c.to || c.to > 0 && (longest-shortest > 1 || shortest < 1) {
				t.Fatalf("the last ends at %d; they have from %d to %d items", at, shortest, longest)
			}
			if runs := s.claim(2000); len(runs) != c.want {
				t.Fatalf("%d shards can be begun", len(runs))
			}
		})
	}
}

func TestWhatAStartedSweepGoesOverStays(t *testing.T) {
	for name, change := range map[string]func(*sweep.Sweep){
		"kind":   func(w *sweep.Sweep) { w.Kind = "other" },
		"from":   func(w *sweep.Sweep) { w.From = 1 },
		"to":     func(w *sweep.Sweep) { w.To = 2000 },
		"source": func(w *sweep.Sweep) { w.Source.URL = "https://example.com/list" },
		"serial": func(w *sweep.Sweep) { w.Serial, w.InFlight = true, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScrubbing(t)
			sw := s.put()
			change(&sw)
			sw, err := s.client.Put(t.Context(), sw) // nothing has been begun
			s.ok(err)
			s.start(sw)
			sw.Rate, sw.Attempts = 7, 9
			sw, err = s.client.Put(t.Context(), sw)
			s.ok(err)
			again := s.put(func(w *sweep.Sweep) { w.Name = "another" })
			s.start(again)
			change(&again)
			_, err = s.client.Put(t.Context(), again)
			s.wantConflict(err)
		})
	}
}
