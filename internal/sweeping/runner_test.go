package sweeping_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// in runs a test of one world in virtual time.
func in(t *testing.T, items int64, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(items)
		test(t, w)
		w.report(t)
	})
}

func takes(d time.Duration) func(sweeping.Item) time.Duration {
	return func(sweeping.Item) time.Duration { return d }
}

func TestAnOrderToStopLetsWhatIsInFlightEnd(t *testing.T) {
	in(t, 1_000_000, func(t *testing.T, w *world) {
		w.takes = takes(10 * time.Second)
		w.orders.Stop = true // returned by the first checkpoint, after a second
		shard := w.shard()
		shard.InFlight = 7
		start := time.Now()
		if ending := w.run(t.Context(), shard); ending != (sweeping.Ending{End: sweeping.Stopped}) {
			t.Errorf("it ended as %v", ending)
		}
		if took := time.Since(start); took != 10*time.Second || w.kept.Counts.Done != 7 || len(w.tries) != 7 {
			t.Errorf("after %v %d items were done, %d begun", took, w.kept.Counts.Done, len(w.tries))
		}
	})
}

func TestNothingStartsWhileTheLeaseIsOver(t *testing.T) {
	in(t, 400, func(t *testing.T, w *world) {
		start := time.Now()
		over := func() bool { return time.Since(start) >= 2*time.Second && time.Since(start) < 5*time.Second }
		w.takes = func(sweeping.Item) time.Duration {
			if over() {
				w.complain("an item starts %v after the start", time.Since(start))
			}
			return 100 * time.Millisecond
		}
		shard := w.shard()
		shard.Lease = func() time.Time {
			if time.Since(start) < 5*time.Second {
				return start.Add(2 * time.Second)
			}
			return start.Add(time.Hour)
		}
		w.mustBeComplete(w.run(t.Context(), shard))
		if took := time.Since(start); took < 13*time.Second || took > 14*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestALostLeaseEndsEverythingAtOnce(t *testing.T) {
	in(t, 1000, func(t *testing.T, w *world) {
		const lost = 1500 * time.Millisecond
		w.takes = takes(time.Hour)
		time.AfterFunc(lost, func() { w.mu.Lock(); w.crashed = true; w.mu.Unlock() })
		start := time.Now()
		if ending := w.run(t.Context(), w.shard()); ending.End != sweeping.Lost || time.Since(start) > lost+sweeping.DefaultEvery {
			t.Errorf("after %v it ended as %v", time.Since(start), ending)
		}
		if w.keptAt.After(start.Add(lost)) {
			t.Error("a checkpoint was kept after that")
		}
	})
}

func TestReleasedItemsHaveNotFailed(t *testing.T) {
	in(t, 10, func(t *testing.T, w *world) {
		w.takes = takes(time.Hour)
		shard := w.shard()
		shard.Attempts, shard.Budget = 1, 0
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		if ending := w.run(ctx, shard); ending.End != sweeping.Released {
			t.Fatalf("it ended as %v", ending)
		}
		w.takes = takes(0)
		w.mustBeComplete(w.run(t.Context(), w.shard()))
	})
}

func TestAProcessWithoutDescriptorsFailsNoItem(t *testing.T) {
	in(t, 100, func(t *testing.T, w *world) {
		full := true
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if full && item.Index >= 50 {
				return sweeping.Failed(fmt.Errorf("no connection: %w", syscall.EMFILE))
			}
			return sweeping.Outcome{}
		}
		shard := w.shard()
		shard.Attempts, shard.Budget = 1, 0
		if ending := w.run(t.Context(), shard); ending.End != sweeping.Released || !errors.Is(ending.Err, syscall.EMFILE) {
			t.Errorf("it ended as %+v", ending)
		}
		if counts := w.kept.Counts; counts.Failed+counts.Abandoned+counts.Retried != 0 || counts.Done > 50 {
			t.Errorf("it counted %+v", counts)
		}
		full = false
		if ending := w.run(t.Context(), w.shard()); ending.End != sweeping.Finished || w.kept.Counts.Done != 100 {
			t.Errorf("the next run ended as %+v with %+v", ending, w.kept.Counts)
		}
	})
}

func TestASourceWithoutDescriptorsDoesNotStopTheSweep(t *testing.T) {
	in(t, 10, func(t *testing.T, w *world) {
		w.source = exhausted{w.source}
		if ending := w.run(t.Context(), w.shard()); ending.End != sweeping.Released || !errors.Is(ending.Err, syscall.ENFILE) {
			t.Errorf("it ended as %+v", ending)
		}
	})
}

// exhausted is a source that the process cannot open for lack of file descriptors.
type exhausted struct{ source.Source }

func (exhausted) Read(context.Context, int64, int64, []source.Item) (int, int64, error) {
	return 0, 0, fmt.Errorf("open: %w", syscall.ENFILE)
}

func TestCheckpointsThatFailArePassedOver(t *testing.T) {
	in(t, 100, func(t *testing.T, w *world) {
		w.takes = takes(time.Second)
		shard, calls := w.shard(), 0
		shard.Save = func(ctx context.Context, c sweeping.Checkpoint) (sweeping.Orders, error) {
			if calls++; calls%3 != 0 {
				return sweeping.Orders{}, errFlaky
			}
			return w.save(ctx, c)
		}
		w.mustBeComplete(w.run(t.Context(), shard))
	})
}

func TestTheLastCheckpointMustBeKept(t *testing.T) {
	in(t, 10, func(t *testing.T, w *world) {
		shard := w.shard()
		shard.Save = func(context.Context, sweeping.Checkpoint) (sweeping.Orders, error) {
			return sweeping.Orders{}, errFlaky
		}
		runner, err := sweeping.New(shard)
		if err != nil {
			t.Fatal(err)
		}
		if ending, err := runner.Run(t.Context()); !errors.Is(err, errFlaky) || ending.End != sweeping.Finished {
			t.Errorf("it ended as %v: %v", ending, err)
		}
	})
}

func TestTheErrorBudget(t *testing.T) {
	bad := func(item sweeping.Item) sweeping.Outcome {
		if item.Index%10 == 3 {
			return sweeping.Failed(errors.New("no"))
		}
		return sweeping.Outcome{}
	}
	for name, c := range map[string]struct {
		budget    int64
		stop      bool
		want      sweeping.End
		abandoned int64
	}{
		"suffices":      {5, false, sweeping.Finished, 5},
		"is used up":    {3, false, sweeping.Stopped, 3},
		"is nothing":    {0, false, sweeping.Stopped, 0},
		"has no bounds": {-1, false, sweeping.Finished, 5},
		"is not asked":  {100, true, sweeping.Stopped, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 50, func(t *testing.T, w *world) {
				w.outcome = bad
				shard := w.shard()
				shard.Budget, shard.StopOnExhausted = c.budget, c.stop
				ending := w.run(t.Context(), shard)
				counts := w.kept.Counts
				if ending.End != c.want || counts.Abandoned != c.abandoned || counts.Exhausted != c.abandoned || w.kept.Spent != c.abandoned {
					t.Errorf("it ended as %v with %+v", ending, counts)
				}
				for i, record := range w.recorded {
					if record.Attempts != 5 || record.Error != "no" {
						t.Errorf("item %d is recorded as %+v", i, record)
					}
				}
				if c.want == sweeping.Stopped {
					if ending.Reason == "" {
						t.Error("there is no reason")
					}
					w.outcome = func(sweeping.Item) sweeping.Outcome { return sweeping.Outcome{} }
					w.mustBeComplete(w.run(t.Context(), w.shard()))
				}
			})
		})
	}
}

func TestTriesAreApart(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		var at []time.Duration
		start := time.Now()
		w.outcome = func(sweeping.Item) sweeping.Outcome {
			at = append(at, time.Since(start))
			return sweeping.Failed(errors.New("no"))
		}
		w.run(t.Context(), w.shard())
		if want := []time.Duration{0, 3 * time.Second, 6 * time.Second, 9 * time.Second, 12 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("it was tried at %v", at)
		}
	})
}

func TestARecordIsKeptBeforeItsItemCounts(t *testing.T) {
	in(t, 20, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if item.Index == 5 {
				return sweeping.Outcome{Verdict: sweeping.Abandon, Err: errors.New("never"), Logs: []sweeping.Log{{Text: "hm"}}}
			}
			return sweeping.Outcome{}
		}
		shard, away := w.shard(), true
		shard.Record = func(ctx context.Context, records []sweeping.Record) error {
			w.mu.Lock()
			failing := away
			w.mu.Unlock()
			if failing {
				return errFlaky
			}
			return w.record(ctx, records)
		}
		time.AfterFunc(10500*time.Millisecond, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.kept.Mark != 5 || w.kept.Counts.Abandoned != 0 || w.kept.Counts.Done != 19 {
				t.Errorf("before it was recorded the checkpoint is %+v", w.kept)
			}
			away = false
		})
		w.mustBeComplete(w.run(t.Context(), shard))
		if got := w.recorded[5]; got.Error != "never" || len(w.logged[5]) != 1 {
			t.Errorf("it is recorded as %+v, with %v", got, w.logged[5])
		}
	})
}

func TestRecordsThatCannotBeKeptLeaveTheirItemsToDo(t *testing.T) {
	in(t, 20, func(t *testing.T, w *world) {
		w.outcome = func(sweeping.Item) sweeping.Outcome {
			return sweeping.Outcome{Verdict: sweeping.Abandon, Err: errors.New("never"), Logs: []sweeping.Log{{Text: "hm"}}}
		}
		shard := w.shard()
		shard.Record = func(context.Context, []sweeping.Record) error { return errFlaky }
		w.orders.Stop = true
		if ending := w.run(t.Context(), shard); ending.End != sweeping.Stopped || w.kept.Mark != 0 || w.kept.Counts != (sweeping.Counts{}) {
			t.Errorf("it ended as %v: %+v", ending, w.kept)
		}
		w.orders.Stop = false
		w.mustBeComplete(w.run(t.Context(), w.shard()))
	})
}

func TestHandlersCanStop(t *testing.T) {
	in(t, 1000, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if item.Index == 100 {
				return sweeping.Outcome{Verdict: sweeping.Stop, Err: errors.New("the target is gone")}
			}
			return sweeping.Outcome{}
		}
		ending := w.run(t.Context(), w.shard())
		if ending.End != sweeping.Stopped || !strings.Contains(ending.Reason, "item 100: the target is gone") || w.kept.Mark > 100 || w.settled[100] > 0 {
			t.Errorf("it ended as %v: %+v", ending, w.kept)
		}
	})
}

func TestSerialRunsKeepTheOrderAndCanFinish(t *testing.T) {
	in(t, 1000, func(t *testing.T, w *world) {
		var order []string
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			order = append(order, fmt.Sprint(item.Index, "/", item.Attempt))
			switch {
			case item.Index == 2 && item.Attempt < 3:
				return sweeping.Failed(errors.New("not yet"))
			case item.Index == 4:
				return sweeping.Outcome{Verdict: sweeping.Finish}
			}
			return sweeping.Outcome{}
		}
		shard := w.shard()
		shard.Serial, shard.InFlight = true, 50
		ending := w.run(t.Context(), shard)
		want := "0/1 1/1 2/1 2/2 2/3 3/1 4/1"
		if got := strings.Join(order, " "); got != want || ending.End != sweeping.Finished || w.kept.Counts.Done != 5 {
			t.Errorf("it went %s and ended as %v: %+v", got, ending, w.kept)
		}
	})
	in(t, 10, func(t *testing.T, w *world) {
		w.outcome = func(sweeping.Item) sweeping.Outcome { return sweeping.Outcome{Verdict: sweeping.Finish} }
		if ending := w.run(t.Context(), w.shard()); ending.End != sweeping.Stopped || w.kept.Mark != 0 {
			t.Errorf("an item of a parallel run ended it as %v", ending)
		}
	})
}

func TestASlowItemDoesNotStopTheOthers(t *testing.T) {
	in(t, 10_000, func(t *testing.T, w *world) {
		w.takes = func(item sweeping.Item) time.Duration {
			if item.Index == 17 {
				return 2 * time.Minute
			}
			return time.Millisecond
		}
		var before *sweeping.Checkpoint
		time.AfterFunc(119*time.Second, func() { w.mu.Lock(); before = w.kept; w.mu.Unlock() })
		shard := w.shard()
		shard.Window = 64
		w.mustBeComplete(w.run(t.Context(), shard))
		if before.Counts.Done != 9_999 || before.Mark != 10_000 || len(before.Aside) != 1 || before.Aside[0] != (sweeping.Aside{Index: 17}) {
			t.Errorf("while it ran the checkpoint was %+v", before)
		}
	})
}

func TestAWindowStallsWhenTooManyItemsFail(t *testing.T) {
	in(t, 5_000, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if item.Attempt == 1 && item.Index < 1_000 {
				return sweeping.Outcome{Verdict: sweeping.Retry, After: time.Minute}
			}
			return sweeping.Outcome{}
		}
		time.AfterFunc(59*time.Second, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.tries) > 256+sweeping.MaxAside || len(w.tries) < 256 || len(w.kept.Aside) != sweeping.MaxAside {
				t.Errorf("%d items were tried, %d are aside", len(w.tries), len(w.kept.Aside))
			}
		})
		shard := w.shard()
		shard.Window = 256
		w.mustBeComplete(w.run(t.Context(), shard))
	})
}

func TestInFlightCanBeChanged(t *testing.T) {
	in(t, 1_000_000, func(t *testing.T, w *world) {
		w.takes = takes(time.Second)
		runner, err := sweeping.New(w.shard())
		if err != nil {
			t.Fatal(err)
		}
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			if _, err := runner.Run(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		for _, n := range []int{10, 3, 100, 1} {
			runner.Order(sweeping.Orders{InFlight: &n})
			time.Sleep(3*time.Second + time.Millisecond)
			w.mu.Lock()
			if w.running != n {
				t.Errorf("%d are in flight, want %d", w.running, n)
			}
			w.mu.Unlock()
		}
		runner.Stop()
		<-finished
	})
}

func TestAPanicIsAFailedTry(t *testing.T) {
	in(t, 10, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if item.Index == 4 {
				panic("no such user")
			}
			return sweeping.Outcome{}
		}
		w.mustBeComplete(w.run(t.Context(), w.shard()))
		if text := w.recorded[4].Error; !strings.Contains(text, "no such user") {
			t.Errorf("it is recorded as %v", text)
		}
	})
}

func TestABadTargetLowersTheRate(t *testing.T) {
	in(t, 1e15, func(t *testing.T, w *world) {
		w.outcome = func(item sweeping.Item) sweeping.Outcome {
			if item.Index%2 == 0 {
				return sweeping.Outcome{Verdict: sweeping.Retry, After: time.Hour, Err: errors.New("busy")}
			}
			return sweeping.Outcome{}
		}
		shard := w.shard()
		shard.Rate, shard.Adaptive = 100, &pace.GovernorOptions{}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w.run(ctx, shard)
		if len(w.tries) > 600 {
			t.Errorf("%d tries in 10 s", len(w.tries))
		}
	})
}

func TestShardsThatCannotRunAreRefused(t *testing.T) {
	w := newWorld(10)
	for name, spoil := range map[string]func(*sweeping.Shard){
		"no source":         func(s *sweeping.Shard) { s.Source = nil },
		"no handler":        func(s *sweeping.Shard) { s.Handle = nil },
		"two handlers":      func(s *sweeping.Shard) { s.HandleBatch = w.handleBatch },
		"backwards":         func(s *sweeping.Shard) { s.From = 11 },
		"negative":          func(s *sweeping.Shard) { s.InFlight = -1 },
		"large window":      func(s *sweeping.Shard) { s.Window = 16_385 },
		"odd rate":          func(s *sweeping.Shard) { s.Rate = math.NaN() },
		"mark beyond":       func(s *sweeping.Shard) { s.Resume = &sweeping.Checkpoint{Mark: 11} },
		"window beyond":     func(s *sweeping.Shard) { s.Resume = &sweeping.Checkpoint{Mark: 5, Window: []byte{255}} },
		"damaged window":    func(s *sweeping.Shard) { s.Resume = &sweeping.Checkpoint{Window: []byte{0}} },
		"aside not in line": func(s *sweeping.Shard) { s.Resume = &sweeping.Checkpoint{Aside: []sweeping.Aside{{Index: 3}}} },
	} {
		shard := w.shard()
		spoil(&shard)
		if _, err := sweeping.New(shard); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}

// Many items in real time, with real concurrency between goroutines.
func TestManyItemsAtFullSpeed(t *testing.T) {
	const n = 300_000
	seen := make([]byte, n)
	var last sweeping.Checkpoint
	runner, err := sweeping.New(sweeping.Shard{
		Source: source.Indexes{To: n}, To: n, InFlight: 8, Every: time.Millisecond, Budget: -1,
		Backoff: func(int) time.Duration { return time.Microsecond },
		Handle: func(_ context.Context, item sweeping.Item) sweeping.Outcome {
			seen[item.Index]++
			if item.Index%1000 == 7 && item.Attempt == 1 {
				return sweeping.Failed(errors.New("once"))
			}
			return sweeping.Outcome{}
		},
		Save: func(_ context.Context, c sweeping.Checkpoint) (sweeping.Orders, error) {
			if c.Mark < last.Mark {
				return sweeping.Orders{}, fairlead.ErrLeaseLost
			}
			last = c
			return sweeping.Orders{}, nil
		},
		Record: func(context.Context, []sweeping.Record) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ending, err := runner.Run(t.Context())
	if err != nil || ending.End != sweeping.Finished || last.Counts.Done != n || last.Counts.Retried != n/1000 {
		t.Fatalf("it ended as %v with %+v: %v", ending, last, err)
	}
	for i, times := range seen {
		if want := byte(1); times != want && i%1000 != 7 {
			t.Fatalf("item %d was run %d times", i, times)
		}
	}
}
