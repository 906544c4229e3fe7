package items_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// retry lets items be tried again.
func (w *world) retry(id int64, indexes ...int64) {
	w.t.Helper()
	if _, err := w.sweeps.Retry(w.t.Context(), id, "me", indexes...); err != nil {
		w.t.Fatal(err)
	}
}

// failed are the indexes of failed items.
func (w *world) failed(id int64) []int64 {
	w.t.Helper()
	items, err := w.sweeps.FailedItems(w.t.Context(), sweep.ItemFilter{Sweep: id, Limit: 100_000})
	if err != nil {
		w.t.Fatal(err)
	}
	indexes := make([]int64, len(items))
	for i := range items {
		indexes[i] = items[i].Index
	}
	return indexes
}

// forget forgets what was tried.
func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.tries)
}

// mending is a handler that refuses every nth item until it is mended.
func mending(nth int64, mended *atomic.Bool) func(context.Context, items.Item[data]) error {
	return func(_ context.Context, item items.Item[data]) error {
		time.Sleep(10 * time.Millisecond)
		if item.Index%nth == 0 && !mended.Load() {
			return items.Abandon(errors.New("not yet"))
		}
		return nil
	}
}

func TestAFinishedSweepTriesItsFailedItemsAgain(t *testing.T) {
	for _, shards := range []int{1, 4} {
		inBubble(t, func(w *world) {
			var mended atomic.Bool
			defer w.node(mending(3, &mended))()
			s := w.start(sweep.Sweep{To: 3000, Shards: shards, Budget: sweep.Budget{Items: 5000}})
			s = w.until(s.ID, sweep.Finished)
			if s.Done != 2000 || s.Abandoned != 1000 {
				t.Fatalf("it ended with %+v", s.Progress)
			}
			mended.Store(true)
			w.forget()
			w.retry(s.ID, 30, 2997)
			s = w.until(s.ID, sweep.Finished)
			if s.Done != 2002 || s.Abandoned != 998 || len(w.tries) != 2 || w.tries[30] != 1 || w.tries[2997] != 1 {
				t.Fatalf("it ended with %+v after %v", s.Progress, w.tries)
			}
			w.retry(s.ID)
			s = w.until(s.ID, sweep.Finished)
			if s.Done != 3000 || s.Abandoned != 0 || s.Again != 0 || len(w.failed(s.ID)) != 0 || len(w.tries) != 1000 {
				t.Fatalf("it ended with %+v after %d", s.Progress, len(w.tries))
			}
		})
	}
}

func TestAStoppedSweepTriesItsFailedItemsAgainAndGoesOn(t *testing.T) {
	inBubble(t, func(w *world) {
		var mended atomic.Bool
		defer w.node(mending(10, &mended))()
		s := w.start(sweep.Sweep{To: 3000, Shards: 2, Budget: sweep.Budget{Items: 50}})
		s = w.until(s.ID, sweep.Stopped)
		if s.Abandoned < 50 || s.Marked == 3000 {
			t.Fatalf("it stopped with %+v", s.Progress)
		}
		mended.Store(true)
		w.retry(s.ID)
		s = w.until(s.ID, sweep.Finished)
		if s.Done != 3000 || s.Abandoned != 0 || len(w.failed(s.ID)) != 0 {
			t.Fatalf("it ended with %+v", s.Progress)
		}
	})
}

// The budget is that of the run: what failed before takes nothing from it, what fails
// again does, and what is done gives nothing back.
func TestTheBudgetOfARetry(t *testing.T) {
	boom := errors.New("boom")
	for name, refuse := range map[string]error{"attempts used up": boom, "given up": items.Abandon(boom)} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				var second atomic.Bool
				defer w.node(func(_ context.Context, item items.Item[data]) error {
					if second.Load() && item.Index < 50 {
						return nil
					}
					return refuse
				})()
				s := w.start(sweep.Sweep{To: 100, InFlight: 1, Attempts: 1, Budget: sweep.Budget{Items: 101}})
				w.until(s.ID, sweep.Finished)
				second.Store(true)
				changed := w.get(s.ID)
				changed.Budget.Items = 7
				if _, err := w.sweeps.Put(w.t.Context(), changed); err != nil {
					t.Fatal(err)
				}
				w.retry(s.ID)
				s = w.until(s.ID, sweep.Stopped)
				if s.Done != 50 || s.Abandoned != 50 || s.Again != 43 {
					t.Fatalf("it stopped with %+v", s.Progress)
				}
				w.retry(s.ID)
				if s = w.until(s.ID, sweep.Stopped); s.Again != 43 || s.Errors != 114 {
					t.Fatalf("it stopped again with %+v", s.Progress)
				}
			})
		})
	}
}

func TestWhatFailsAgainIsNotedAnew(t *testing.T) {
	inBubble(t, func(w *world) {
		var second atomic.Bool
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			if item.Index != 3 {
				return nil
			}
			if second.Load() {
				return errors.New("worse")
			}
			return items.Abandon(errors.New("bad"))
		})()
		s := w.start(sweep.Sweep{To: 10, Attempts: 4})
		w.until(s.ID, sweep.Finished)
		second.Store(true)
		w.retry(s.ID)
		s = w.until(s.ID, sweep.Finished)
		items, err := w.sweeps.FailedItems(w.t.Context(), sweep.ItemFilter{Sweep: s.ID})
		if err != nil || len(items) != 1 || items[0].Error != "worse" || items[0].Attempts != 4 || items[0].Again {
			t.Errorf("failed are %+v, %v", items, err)
		}
		if s.Done != 9 || s.Abandoned != 1 || s.Errors != 5 {
			t.Errorf("it ended with %+v", s.Progress)
		}
	})
}

// A serial sweep that was finished early does not go beyond that when items are tried
// again.
func TestASweepThatWasFinishedEarlyTriesAgainOnlyWhatItBegan(t *testing.T) {
	inBubble(t, func(w *world) {
		var order []int64
		second := false
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			order = append(order, item.Index) // one goroutine runs
			switch {
			case item.Index == 20:
				return items.Finish()
			case item.Index%5 == 0 && !second:
				return items.Abandon(errors.New("no"))
			}
			return nil
		})()
		s := w.start(sweep.Sweep{To: 100, Serial: true})
		w.until(s.ID, sweep.Finished)
		second, order = true, nil
		w.retry(s.ID)
		s = w.until(s.ID, sweep.Finished)
		if !slices.Equal(order, []int64{0, 5, 10, 15}) || s.Done != 21 || s.Abandoned != 0 || s.Total != 21 {
			t.Errorf("it ended with %+v after %v", s.Progress, order)
		}
	})
}

func TestLinesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	file := filepath.Join(dir, "lines")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(w *world) {
		var mended atomic.Bool
		var mu sync.Mutex
		lines := map[int64]string{}
		mux := fairlead.NewMux()
		items.Handle(mux, w.store, "k", items.Options{Roots: []string{dir}, Logger: slog.New(slog.DiscardHandler)}, func(_ context.Context, item items.Item[data]) error {
			if !mended.Load() && item.Index%100 == 7 {
				return items.Abandon(errors.New("no"))
			}
			if mended.Load() {
				mu.Lock()
				defer mu.Unlock()
				lines[item.Index] = string(item.Text)
			}
			return nil
		})
		defer w.run(mux)()
		s := w.start(sweep.Sweep{Source: sweep.ItemSource{File: file}})
		w.until(s.ID, sweep.Finished)
		mended.Store(true)
		w.retry(s.ID)
		s = w.until(s.ID, sweep.Finished)
		if len(lines) != 20 || lines[1907] != "line 1907" || s.Done != 2000 {
			t.Errorf("it ended with %+v after %v", s.Progress, lines)
		}
	})
}
