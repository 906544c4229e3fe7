package items_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

func TestASweepRunsToItsEnd(t *testing.T) {
	for _, shards := range []int{1, 4} {
		inBubble(t, func(w *world) {
			defer w.node(done)()
			s := w.start(sweep.Sweep{From: 7, To: 5007, Shards: shards, Data: json.RawMessage(`{"word":"hello"}`)})
			s = w.until(s.ID, sweep.Finished)
			w.each(7, 5007, 1)
			if s.Done != 5000 || s.Marked != 5000 || s.Abandoned != 0 || w.words["hello"] != 5000 {
				t.Errorf("it ended with %+v, and words %v", s.Progress, w.words)
			}
		})
	}
}

func TestAStoppedSweepGoesOnWhereItWas(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(func(context.Context, items.Item[data]) error {
			time.Sleep(30 * time.Millisecond)
			return nil
		})()
		s := w.start(sweep.Sweep{To: 3000, Shards: 2})
		time.Sleep(3 * time.Second)
		if _, err := w.sweeps.Stop(w.t.Context(), s.ID, "me", "enough"); err != nil {
			t.Fatal(err)
		}
		answered := time.Now()
		stopped := w.until(s.ID, sweep.Stopped)
		if last := w.begun[len(w.begun)-1]; last.Sub(answered) > time.Second {
			t.Errorf("an item was begun %v after the stop", last.Sub(answered))
		}
		if n := int64(w.count()); n == 0 || n == 3000 || stopped.Done != n || stopped.Reason != "enough" {
			t.Fatalf("%d items were begun, and it stopped with %+v", n, stopped.Status)
		}
		if _, err := w.sweeps.Start(w.t.Context(), s.ID, "me"); err != nil {
			t.Fatal(err)
		}
		w.until(s.ID, sweep.Finished)
		w.each(0, 3000, 1)
	})
}

// A run that does not hear whether it is to stop begins nothing.
func TestASlowStoreDoesNotDelayAStop(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(done)()
		s := w.start(sweep.Sweep{To: 1_000_000, Rate: 100})
		time.Sleep(3 * time.Second)
		w.late.Store(int64(4 * time.Second))
		time.Sleep(700 * time.Millisecond) // a checkpoint is under way that knows nothing of the stop
		if _, err := w.sweeps.Stop(w.t.Context(), s.ID, "me", "enough"); err != nil {
			t.Fatal(err)
		}
		answered := time.Now()
		w.until(s.ID, sweep.Stopped)
		if last := w.begun[len(w.begun)-1]; last.Sub(answered) > time.Second {
			t.Errorf("an item was begun %v after the stop", last.Sub(answered))
		}
	})
}

func TestASweepIsFinishedIfItsLastItemsEndWhileItStops(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			if item.Index == 9 {
				time.Sleep(5 * time.Second)
			}
			return nil
		})()
		s := w.start(sweep.Sweep{To: 10})
		time.Sleep(2 * time.Second)
		if _, err := w.sweeps.Stop(w.t.Context(), s.ID, "me", ""); err != nil {
			t.Fatal(err)
		}
		if now := w.get(s.ID); now.State != sweep.Stopping {
			t.Fatalf("it is %s", now.State)
		}
		w.until(s.ID, sweep.Finished)
		w.each(0, 10, 1)
	})
}

func TestANodeThatGoesHandsItsShardsOverExactly(t *testing.T) {
	inBubble(t, func(w *world) {
		slow := func(context.Context, items.Item[data]) error {
			time.Sleep(30 * time.Millisecond)
			return nil
		}
		first := w.node(slow)
		s := w.start(sweep.Sweep{To: 3000, Shards: 3})
		time.Sleep(3 * time.Second)
		second := w.node(slow)
		time.Sleep(time.Second)
		first()
		if s := w.get(s.ID); s.State != sweep.Running {
			t.Fatalf("it is %s: %s", s.State, s.Reason)
		}
		w.until(s.ID, sweep.Finished)
		second()
		w.each(0, 3000, 1)
	})
}

func TestTheRateHolds(t *testing.T) {
	for _, shards := range []int{1, 4} {
		inBubble(t, func(w *world) {
			defer w.node(done)()
			s := w.start(sweep.Sweep{To: 1_000_000, Rate: 1000, Shards: shards})
			time.Sleep(3 * time.Second)
			before := w.count()
			time.Sleep(10 * time.Second)
			if n := w.count() - before; n < 9900 || n > 10100 {
				t.Errorf("%d shards: %d items were begun in 10s, at 1000/s", shards, n)
			}
			changed := w.get(s.ID)
			changed.Rate = 100
			if _, err := w.sweeps.Put(w.t.Context(), changed); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			before = w.count()
			time.Sleep(10 * time.Second)
			if n := w.count() - before; n < 980 || n > 1020 {
				t.Errorf("%d shards: %d items were begun in 10s, at 100/s", shards, n)
			}
			if _, err := w.sweeps.Stop(w.t.Context(), s.ID, "me", ""); err != nil {
				t.Fatal(err)
			}
			w.until(s.ID, sweep.Stopped)
		})
	}
}

func TestTheRateHoldsWhileShardsMove(t *testing.T) {
	inBubble(t, func(w *world) {
		const rate = 1000
		first := w.node(done)
		s := w.start(sweep.Sweep{To: 60_000, Shards: 4, InFlight: 16, Rate: rate})
		begin := time.Now()
		time.Sleep(5 * time.Second)
		second := w.node(done)
		time.Sleep(15 * time.Second)
		first()
		time.Sleep(5 * time.Second)
		perSecond := map[int]int{}
		w.mu.Lock()
		for _, at := range w.begun {
			perSecond[int(at.Sub(begin)/time.Second)]++
		}
		w.mu.Unlock()
		for i := 1; i < 24; i++ {
			if got := perSecond[i]; got < rate*90/100 || got > rate*101/100 {
				t.Errorf("in second %d so many items were begun: %d", i, got)
			}
		}
		w.until(s.ID, sweep.Finished)
		second()
		w.each(0, 60_000, 1)
	})
}

func TestItemsThatFail(t *testing.T) {
	boom := errors.New("boom")
	t.Run("are tried again", func(t *testing.T) {
		inBubble(t, func(w *world) {
			defer w.node(func(_ context.Context, item items.Item[data]) error {
				if item.Attempt < 3 {
					return boom
				}
				return nil
			})()
			s := w.start(sweep.Sweep{To: 50})
			s = w.until(s.ID, sweep.Finished)
			w.each(0, 50, 3)
			if s.Done != 50 || s.Errors != 100 {
				t.Errorf("it ended with %+v", s.Progress)
			}
		})
	})
	t.Run("are given up and listed, with what was logged", func(t *testing.T) {
		inBubble(t, func(w *world) {
			defer w.node(func(ctx context.Context, item items.Item[data]) error {
				switch item.Index {
				case 3:
					items.Log(ctx, slog.LevelWarn, "not today")
					return items.Abandon(boom)
				case 5:
					return boom
				}
				return nil
			})()
			s := w.start(sweep.Sweep{To: 10, Attempts: 2})
			s = w.until(s.ID, sweep.Finished)
			if s.Done != 8 || s.Abandoned != 2 || w.tries[3] != 1 || w.tries[5] != 2 {
				t.Errorf("it ended with %+v after %v", s.Progress, w.tries)
			}
			failed, err := w.store.FailedItems(w.t.Context(), sweep.ItemFilter{Sweep: s.ID})
			if err != nil || len(failed) != 2 || failed[0].Index != 3 || failed[0].Error != "boom" || failed[1].Attempts != 2 {
				t.Errorf("failed are %+v, %v", failed, err)
			}
			logs, err := w.store.SweepLogs(w.t.Context(), sweep.LogFilter{Sweep: s.ID})
			if err != nil || len(logs) != 1 || logs[0].Index != 3 || logs[0].Level != "warn" || logs[0].Text != "not today" {
				t.Errorf("logs are %+v, %v", logs, err)
			}
		})
	})
	for name, failure := range map[string]error{"use up the budget": boom, "use up the budget when they are given up": items.Abandon(boom)} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				defer w.node(func(context.Context, items.Item[data]) error { return failure })()
				s := w.start(sweep.Sweep{To: 10_000, Attempts: 1, Budget: sweep.Budget{Items: 5}})
				s = w.until(s.ID, sweep.Stopped)
				if s.Abandoned != 5 || s.Reason == "" {
					t.Errorf("it stopped with %+v", s.Status)
				}
			})
		})
	}
	t.Run("stop the sweep if they are to", func(t *testing.T) {
		inBubble(t, func(w *world) {
			defer w.node(func(_ context.Context, item items.Item[data]) error {
				if item.Index == 20 && w.get(item.Sweep).Run == 1 {
					return items.Stop(boom)
				}
				return nil
			})()
			s := w.start(sweep.Sweep{To: 100, InFlight: 1})
			s = w.until(s.ID, sweep.Stopped)
			if s.Done != 20 || s.Reason != "item 20: boom" {
				t.Fatalf("it stopped with %+v", s.Status)
			}
			if _, err := w.sweeps.Start(w.t.Context(), s.ID, "me"); err != nil {
				t.Fatal(err)
			}
			if s = w.until(s.ID, sweep.Finished); s.Done != 100 {
				t.Errorf("it ended with %+v", s.Progress)
			}
		})
	})
}

func TestASerialSweepGoesOneByOneAndCanBeFinished(t *testing.T) {
	inBubble(t, func(w *world) {
		var order []int64
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			order = append(order, item.Index) // one goroutine runs
			time.Sleep(100 * time.Millisecond)
			if item.Index == 49 {
				return items.Finish()
			}
			return nil
		})()
		s := w.start(sweep.Sweep{To: 100, Serial: true, Data: json.RawMessage(`{"word":"old"}`)})
		time.Sleep(2 * time.Second)
		if _, err := w.sweeps.SetData(w.t.Context(), s.ID, "me", json.RawMessage(`{"word":"new"}`)); err != nil {
			t.Fatal(err)
		}
		s = w.until(s.ID, sweep.Finished)
		if s.Done != 50 || len(order) != 50 {
			t.Errorf("it ended with %+v after %d items", s.Progress, len(order))
		}
		for i, index := range order {
			if int64(i) != index {
				t.Fatalf("item %d came at place %d", index, i)
			}
		}
		if w.words["old"] == 0 || w.words["new"] < 20 {
			t.Errorf("the words were %v", w.words)
		}
	})
}

func TestASweepWithAGateWaitsForTheBusiness(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(done)()
		s := w.start(sweep.Sweep{To: 100, Gate: sweep.Gate{BeforeRun: "https://example.org/gate"}})
		time.Sleep(5 * time.Second)
		if s := w.get(s.ID); s.State != sweep.Waiting || w.count() != 0 {
			t.Fatalf("it is %s, and %d items were begun", s.State, w.count())
		}
		if _, err := w.sweeps.Open(w.t.Context(), s.ID, "business"); err != nil {
			t.Fatal(err)
		}
		w.until(s.ID, sweep.Finished)
		w.each(0, 100, 1)
	})
}

func TestDataThatDoesNotFitStopsTheSweep(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(done)()
		s := w.start(sweep.Sweep{To: 100, Data: json.RawMessage(`{"word":5}`)})
		if s = w.until(s.ID, sweep.Stopped); s.Reason == "" || w.count() != 0 {
			t.Errorf("it stopped with %+v after %d items", s.Status, w.count())
		}
	})
}
