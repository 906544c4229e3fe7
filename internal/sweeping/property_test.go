package sweeping_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// keys is a sparse source.
type keys struct {
	source.Indexes
	all []int64
}

func (k keys) Read(_ context.Context, from, to int64, items []source.Item) (n int, next int64, err error) {
	at, _ := slices.BinarySearch(k.all, from)
	for ; n < len(items); n++ {
		if at+n == len(k.all) || k.all[at+n] >= to {
			return n, to, nil
		}
		items[n] = source.Item{Index: k.all[at+n]}
	}
	return n, items[n-1].Index + 1, nil
}

func (k keys) Next(_ context.Context, from, to int64) (int64, error) {
	at, _ := slices.BinarySearch(k.all, from)
	if at == len(k.all) {
		return to, nil
	}
	return min(to, k.all[at]), nil
}

// setting is a randomly drawn world and shard.
type setting struct {
	items, inFlight, window, batch int
	rate                           float64
	serial, sparse, loop           bool
	fits                           int     // calls after which a loop no longer fits
	retry, abandon                 float64 // probabilities
	slow                           int     // milliseconds
	seed                           uint64
}

func drawSetting(t *rapid.T) setting {
	return setting{
		items:    rapid.IntRange(0, 2500).Draw(t, "items"),
		inFlight: rapid.IntRange(1, 40).Draw(t, "in flight"),
		window:   rapid.SampledFrom([]int{1, 2, 63, 64, 65, 200, 1024, 16384}).Draw(t, "window"),
		batch:    rapid.SampledFrom([]int{1, 1, 1, 2, 7, 100}).Draw(t, "batch"),
		rate:     rapid.SampledFrom([]float64{0, 0, 300, 5000}).Draw(t, "rate"),
		serial:   rapid.IntRange(0, 9).Draw(t, "serial") == 0,
		sparse:   rapid.IntRange(0, 3).Draw(t, "sparse") == 0,
		loop:     rapid.Bool().Draw(t, "loop"),
		fits:     rapid.SampledFrom([]int{0, 0, 1, 500}).Draw(t, "fits"),
		retry:    rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "retry"),
		abandon:  rapid.SampledFrom([]float64{0, 0.01, 0.2}).Draw(t, "abandon"),
		slow:     rapid.SampledFrom([]int{0, 1, 50, 2000}).Draw(t, "slow"),
		seed:     rapid.Uint64().Draw(t, "seed"),
	}
}

func (s setting) world() *world {
	w := newWorld(int64(s.items))
	if s.sparse {
		k, lot, at := keys{}, rand.New(rand.NewPCG(s.seed, 1)), int64(0)
		for range s.items {
			at += 1 + lot.Int64N(3)*lot.Int64N(1_000)
			if lot.IntN(50) == 0 {
				at += lot.Int64N(1e15)
			}
			k.all = append(k.all, at)
		}
		w.to = at + 1 + lot.Int64N(1e15)
		k.Indexes = source.Indexes{To: w.to}
		w.source = k
	}
	w.outcome = func(item sweeping.Item) sweeping.Outcome {
		switch p := dice(s.seed, item).Float64(); {
		case p < s.retry:
			return sweeping.Failed(errors.New("not now"))
		case p < s.retry+s.abandon:
			return sweeping.Outcome{Verdict: sweeping.Abandon, Err: errors.New("never")}
		case p > 0.99:
			return sweeping.Outcome{Logs: []sweeping.Log{{Text: "nearly"}}}
		}
		return sweeping.Outcome{}
	}
	w.takes = func(item sweeping.Item) time.Duration {
		return time.Duration(dice(s.seed^7, item).IntN(s.slow+1)) * time.Millisecond
	}
	return w
}

func (s setting) shard(w *world) sweeping.Shard {
	shard := w.shard()
	shard.InFlight, shard.Window, shard.Rate, shard.Serial = s.inFlight, s.window, s.rate, s.serial
	if s.loop {
		shard.Loop = w.loops(s.fits)
	}
	if s.batch > 1 {
		shard.Handle, shard.HandleBatch, shard.Batch = nil, w.handleBatch, s.batch
	}
	return shard
}

func (s setting) indexes(w *world) []int64 {
	if k, sparse := w.source.(keys); sparse {
		return k.all
	}
	all := make([]int64, s.items)
	for i := range all {
		all[i] = int64(i)
	}
	return all
}

func TestWithoutACrashEachItemIsSettledExactlyOnce(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSetting(rt)
		w := s.world()
		synctest.Test(t, func(t *testing.T) {
			w.mustBeComplete(w.run(t.Context(), s.shard(w)))
		})
		for _, i := range s.indexes(w) {
			if w.settled[i] != 1 || w.tries[i] > sweeping.DefaultAttempts {
				w.complain("item %d was settled %d times by %d tries", i, w.settled[i], w.tries[i])
			}
		}
		if len(w.tries) != s.items {
			w.complain("%d items were run, there are %d", len(w.tries), s.items)
		}
		if !s.serial && s.batch == 1 && w.peak > s.inFlight || s.serial && w.peak > 1 {
			w.complain("%d were in flight", w.peak)
		}
		w.report(rt)
	})
}

// A crash loses everything that was not saved. Handlers still running continue for a
// moment, like those of a node that was cut off.
func TestAfterCrashesEachItemIsSettledAndLittleIsRepeated(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSetting(rt)
		s.serial = false
		crashes := rapid.SliceOfN(rapid.IntRange(0, 4000), 0, 12).Draw(rt, "crashes")
		w := s.world()
		synctest.Test(t, func(t *testing.T) {
			var ending sweeping.Ending
			for _, after := range crashes {
				timer := time.AfterFunc(time.Duration(after)*time.Millisecond, func() {
					w.mu.Lock()
					w.crashed = true
					w.mu.Unlock()
				})
				ending = w.run(t.Context(), s.shard(w))
				timer.Stop()
				if ending.End == sweeping.Finished {
					break
				}
				w.crash()
			}
			if ending.End != sweeping.Finished {
				ending = w.run(t.Context(), s.shard(w))
			}
			w.mustBeComplete(ending)
		})
		for _, i := range s.indexes(w) {
			if w.settled[i] < 1 {
				w.complain("item %d was never settled", i)
			}
		}
		w.report(rt)
	})
}

// Stopping and starting repeats no item at all.
func TestStopsAreExact(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSetting(rt)
		stops := rapid.SliceOfN(rapid.IntRange(0, 3000), 0, 8).Draw(rt, "stops")
		w := s.world()
		synctest.Test(t, func(t *testing.T) {
			for _, after := range append(stops, 1e9) {
				runner, err := sweeping.New(s.shard(w))
				if err != nil {
					w.complain("new: %v", err)
					return
				}
				timer := time.AfterFunc(time.Duration(after)*time.Millisecond, runner.Stop)
				ending, err := runner.Run(t.Context())
				timer.Stop()
				if err != nil || ending.End == sweeping.Stopped && ending.Reason != "" {
					w.complain("it ended as %v: %v", ending, err)
				}
				if ending.End == sweeping.Finished {
					w.mustBeComplete(ending)
					return
				}
			}
			w.complain("it never finished")
		})
		for _, i := range s.indexes(w) {
			if w.settled[i] != 1 {
				w.complain("item %d was settled %d times", i, w.settled[i])
			}
		}
		w.report(rt)
	})
}

// A worker that holds many items because they were fast, and then meets a slow one, still
// has its earlier results saved.
func TestWhatAWorkerHasDoneIsKeptWhileItIsBusy(t *testing.T) {
	in(t, 10_000, func(t *testing.T, w *world) {
		w.takes = func(item sweeping.Item) time.Duration {
			if item.Index == 9_000 {
				return time.Minute
			}
			return 0
		}
		time.AfterFunc(59*time.Second, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if done := int(w.kept.Counts.Done); done != len(w.ended) || done < 9_000 {
				w.complain("%d items are done by the checkpoint, and %d really", done, len(w.ended))
			}
		})
		w.mustBeComplete(w.run(t.Context(), w.shard()))
	})
}

func TestAsideSurvivesBeingWritten(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		var aside []sweeping.Aside
		last := rapid.Int64Range(-1<<62, 1<<61).Draw(t, "first")
		for range rapid.IntRange(0, sweeping.MaxAside).Draw(t, "n") {
			last += rapid.Int64Range(1, 1<<53).Draw(t, "step")
			aside = append(aside, sweeping.Aside{Index: last, Tries: rapid.IntRange(0, 100).Draw(t, "tries")})
		}
		text := sweeping.AppendAside(nil, aside)
		got, err := sweeping.DecodeAside(text)
		if err != nil || !slices.Equal(got, aside) {
			t.Fatalf("%v came back as %v: %v", aside, got, err)
		}
		if len(text) > 1500 {
			t.Fatalf("it has %d bytes", len(text))
		}
	})
}

func FuzzDecodeAside(f *testing.F) {
	f.Add([]byte{2, 1, 2, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		aside, err := sweeping.DecodeAside(text)
		if err != nil {
			return
		}
		again, err := sweeping.DecodeAside(sweeping.AppendAside(nil, aside))
		if err != nil || !slices.Equal(again, aside) {
			t.Fatalf("%v came back as %v: %v", aside, again, err)
		}
	})
}
