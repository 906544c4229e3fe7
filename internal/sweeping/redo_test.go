package sweeping_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// failedIndexes returns the sorted indexes of failed items.
func (w *world) failedIndexes() []int64 {
	var all []int64
	for index := range w.recorded {
		all = append(all, index)
	}
	slices.Sort(all)
	return all
}

// Despite crashes and stops, in the end every item is counted once, as done or as failed,
// and no item was retried unless it was meant to be. The world reports an error if a
// checkpoint's counts ever differ from the items that it reports.
func TestItemsThatAreTriedAgainAreCountedOnce(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSetting(rt)
		s.abandon = rapid.SampledFrom([]float64{0.05, 0.5, 1}).Draw(rt, "abandon at first")
		crashes := rapid.SliceOfN(rapid.IntRange(0, 4000), 0, 8).Draw(rt, "crashes")
		stops := rapid.SliceOfN(rapid.Bool(), len(crashes), len(crashes)).Draw(rt, "stops")
		chosen := rapid.IntRange(1, 3).Draw(rt, "every nth is tried again")
		w := s.world()
		var again []int64
		synctest.Test(t, func(t *testing.T) {
			w.mustBeComplete(w.run(t.Context(), s.shard(w)))
			for i, index := range w.failedIndexes() {
				if i%chosen == 0 {
					again = append(again, index)
				}
			}
			clear(w.tries)
			w.retry(again...)
			s.seed, s.abandon = s.seed+1, 0.2
			w.outcome = s.world().outcome
			w.mustBeComplete(w.runThrough(t.Context(), s, crashes, stops))
		})
		for _, index := range again {
			if w.settled[index] < 1 {
				w.complain("item %d was never settled", index)
			}
			delete(w.tries, index)
		}
		if len(w.tries) > 0 || len(w.again) > 0 {
			w.complain("%d others were run, and %d are still to be", len(w.tries), len(w.again))
		}
		w.report(rt)
	})
}

// runThrough runs a shard until it has finished. Each run except the last is ended by a
// crash or a stop after some milliseconds.
func (w *world) runThrough(ctx context.Context, s setting, after []int, stops []bool) sweeping.Ending {
	for i, pause := range after {
		runner, err := sweeping.New(s.shard(w))
		if err != nil {
			w.complain("new: %v", err)
			return sweeping.Ending{}
		}
		timer := time.AfterFunc(time.Duration(pause)*time.Millisecond, func() {
			if stops[i] {
				runner.Stop()
				return
			}
			w.mu.Lock()
			w.crashed = true
			w.mu.Unlock()
		})
		ending, err := runner.Run(ctx)
		timer.Stop()
		if err != nil {
			w.complain("run: %v", err)
		}
		if ending.End == sweeping.Finished {
			return ending
		}
		w.crash()
	}
	return w.run(ctx, s.shard(w))
}

// never makes every item fail.
func never(sweeping.Item) sweeping.Outcome {
	return sweeping.Outcome{Verdict: sweeping.Abandon, Err: errors.New("never")}
}

func always(sweeping.Item) sweeping.Outcome { return sweeping.Outcome{} }

func TestManyItemsAreTriedAgainInPages(t *testing.T) {
	in(t, 5000, func(t *testing.T, w *world) {
		w.outcome = never
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		w.retry(w.failedIndexes()...)
		w.outcome = always
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		if w.kept.Counts.Done != 5000 || w.kept.Counts.Abandoned != 0 {
			t.Errorf("it ended with %+v", w.kept.Counts)
		}
	})
}

func TestASerialRunTriesAgainByIndexAndOneAfterTheOther(t *testing.T) {
	in(t, 40, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if item.Index%3 == 0 {
				return never(item)
			}
			return sweeping.Outcome{}
		}
		shard := w.shard()
		shard.Serial = true
		w.mustBeComplete(w.run(t.Context(), shard))
		w.retry(3, 12, 30)
		var order []string
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			order = append(order, fmt.Sprint(item.Index, "/", item.Attempt))
			if item.Index == 12 && item.Attempt < 3 {
				return sweeping.Failed(errors.New("not now"))
			}
			return sweeping.Outcome{}
		}
		shard = w.shard()
		shard.Serial = true
		w.mustBeComplete(w.run(t.Context(), shard))
		if want := []string{"3/1", "12/1", "12/2", "12/3", "30/1"}; !slices.Equal(order, want) {
			t.Errorf("the order was %v", order)
		}
	})
}

func TestWhatIsTriedAgainComesBeforeTheRest(t *testing.T) {
	in(t, 100, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			switch item.Index {
			case 5, 7:
				return never(item)
			case 50:
				return sweeping.Outcome{Verdict: sweeping.Stop, Err: errors.New("enough")}
			}
			return sweeping.Outcome{}
		}
		shard := w.shard()
		shard.InFlight = 1
		w.run(t.Context(), shard)
		w.retry(5, 7)
		var order []int64
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			order = append(order, item.Index)
			return sweeping.Outcome{}
		}
		shard = w.shard()
		shard.InFlight = 1
		w.mustBeComplete(w.run(t.Context(), shard))
		if !slices.Equal(order[:3], []int64{5, 7, 50}) || len(order) != 52 {
			t.Errorf("the order was %v", order)
		}
	})
}

func TestAnItemThatFailsAgainTakesFromTheBudget(t *testing.T) {
	in(t, 20, func(t *testing.T, w *world) {
		w.outcome = never
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		w.retry(1, 2, 3, 4, 5)
		w.outcome = func(sweeping.Item) sweeping.Outcome { return sweeping.Failed(errors.New("still no")) }
		shard := w.shard()
		shard.InFlight, shard.Budget, shard.Resume.Spent = 1, 2, 0
		ending := w.run(t.Context(), shard)
		if ending.End != sweeping.Stopped || w.kept.Again != 3 || w.kept.Counts.Abandoned != 20 {
			t.Errorf("it ended as %v with %+v and %d to try again", ending, w.kept.Counts, w.kept.Again)
		}
		if failed := w.recorded[1]; failed.Attempts != 5 || failed.Error != "still no" {
			t.Errorf("the item is recorded as %+v", failed)
		}
		w.outcome = always
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		if w.kept.Counts.Done != 3 || w.kept.Counts.Abandoned != 17 {
			t.Errorf("it ended with %+v", w.kept.Counts)
		}
	})
}

// lettered has a letter for every index except one.
type lettered struct {
	source.Indexes
	gone int64
}

func (l lettered) Read(ctx context.Context, from, to int64, items []source.Item) (n int, next int64, err error) {
	if from == l.gone {
		return 0, to, nil
	}
	n, next, err = l.Indexes.Read(ctx, from, min(to, from+1), items)
	for i := range items[:n] {
		items[i].Data = []byte{byte('a' + items[i].Index)}
	}
	return n, next, err
}

func (l lettered) Next(_ context.Context, from, _ int64) (int64, error) { return from, nil }

func TestAnItemThatIsTriedAgainCarriesWhatTheSourceHas(t *testing.T) {
	in(t, 5, func(t *testing.T, w *world) {
		w.source, w.outcome = lettered{source.Indexes{To: 5}, -1}, never
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		w.retry(1, 2, 4)
		w.source = lettered{source.Indexes{To: 5}, 2}
		got := map[int64]string{}
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			got[item.Index] = string(item.Data)
			return sweeping.Outcome{}
		}
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		if len(got) != 2 || got[1] != "b" || got[4] != "e" {
			t.Errorf("the items were %v", got)
		}
		if failed := w.failedIndexes(); !slices.Equal(failed, []int64{0, 3}) {
			t.Errorf("%v are still known as failed", failed) // one item has disappeared, which is not a failure
		}
	})
}

// A store that does not respond does not end the run.
func TestWhichItemsToTryAgainIsAskedUntilItIsKnown(t *testing.T) {
	in(t, 5, func(t *testing.T, w *world) {
		w.outcome = never
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		w.retry(1, 2)
		w.outcome = always
		shard, asked := w.shard(), 0
		shard.Again = func(ctx context.Context, from int64, most int) ([]int64, error) {
			if asked++; asked < 20 {
				return nil, errFlaky
			}
			return w.readAgain(ctx, from, most)
		}
		w.mustBeComplete(w.run(t.Context(), shard))
	})
}

// An item recorded as failed that is still unfinished, as older versions may have left it,
// is processed like the others and no longer recorded.
func TestAnItemThatIsStillToDoIsNotTriedTwice(t *testing.T) {
	in(t, 30, func(t *testing.T, w *world) {
		w.kept = &sweeping.Checkpoint{}
		w.recorded[7] = sweeping.Failure{Index: 7}
		w.retry(7)
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		if w.tries[7] != 1 || len(w.recorded) > 0 {
			t.Errorf("it was tried %d times; %v are known as failed", w.tries[7], w.recorded)
		}
	})
}
