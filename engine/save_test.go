package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// saves is a store that answers the first calls of Save in a way of its own.
type saves struct {
	driver.Store
	calls  atomic.Int64
	answer func(ctx context.Context, call int64) (own bool, err error) // own: instead of the store
}

func (s *saves) Save(ctx context.Context, save fairlead.Save) error {
	if own, err := s.answer(ctx, s.calls.Add(1)); own {
		return err
	}
	return s.Store.Save(ctx, save)
}

func TestWhatAHandlerSavesWaitsForAStoreThatIsAway(t *testing.T) {
	refused := errors.New("too large")
	for name, c := range map[string]struct {
		answer func(ctx context.Context, call int64) (bool, error)
		calls  int64
		state  fairlead.State
		fails  error // what the handler gets
	}{
		"it comes back": {
			answer: func(_ context.Context, call int64) (bool, error) {
				return call <= 8, fmt.Errorf("no: %w", fairlead.ErrUnavailable)
			},
			calls: 9, state: fairlead.Succeeded,
		},
		"its answer does not come": {
			answer: func(ctx context.Context, call int64) (bool, error) {
				if call == 1 {
					<-ctx.Done()
				}
				return call == 1, ctx.Err()
			},
			calls: 2, state: fairlead.Succeeded,
		},
		"it refuses": {
			answer: func(context.Context, int64) (bool, error) { return true, refused },
			calls:  1, state: fairlead.Failed, fails: refused,
		},
		"the job was taken away": {
			answer: func(context.Context, int64) (bool, error) { return true, fairlead.ErrLeaseLost },
			calls:  1, state: fairlead.Failed, fails: fairlead.ErrLeaseLost,
		},
		"it comes back and refuses": {
			answer: func(_ context.Context, call int64) (bool, error) {
				if call <= 3 {
					return true, fairlead.ErrUnavailable
				}
				return true, refused
			},
			calls: 4, state: fairlead.Failed, fails: refused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				store := &saves{Store: w.store, answer: c.answer}
				w.engineStore = store
				var got error
				runs := 0
				w.handle("k", fairlead.HandlerOptions{MaxAttempts: 1}, func(ctx context.Context, _ *fairlead.Job) error {
					runs++
					got = fairlead.Progress(ctx, "half")
					return got
				})
				job := &fairlead.Job{Kind: "k"}
				w.run(engine.Options{}, func() {
					w.enqueue(job)
					done := w.wait(job)
					if done.State != c.state || !errors.Is(got, c.fails) || runs != 1 || store.calls.Load() != c.calls {
						t.Errorf("the job %s after %d runs and %d calls; the handler got %v", done.State, runs, store.calls.Load(), got)
					}
					if c.fails == nil && string(done.Progress) != `"half"` {
						t.Errorf("its progress is %s", done.Progress)
					}
				})
			})
		})
	}
}

// What the store did not do is no failure of the job, whatever ended the run.
func TestARunThatEndsWhileTheStoreIsAwayIsPutOff(t *testing.T) {
	// A deaf handler saves under a context that does not end.
	for name, deaf := range map[string]bool{"its context ends": false, "it is deaf": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				var back atomic.Bool
				w.engineStore = &saves{Store: w.store, answer: func(context.Context, int64) (bool, error) { return !back.Load(), fairlead.ErrUnavailable }}
				returned, log := make(chan error, 10), &lines{}
				w.handle("k", fairlead.HandlerOptions{MaxAttempts: 1, Timeout: time.Minute}, func(ctx context.Context, _ *fairlead.Job) error {
					if deaf {
						ctx = context.WithoutCancel(ctx)
					}
					err := fairlead.Progress(ctx, "half")
					if err != nil {
						returned <- err
					}
					return err
				})
				job := &fairlead.Job{Kind: "k"}
				w.run(engine.Options{Grace: 10 * time.Second, Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
					w.enqueue(job)
					pass(62 * time.Second)
					select {
					case err := <-returned:
						if !errors.Is(err, fairlead.ErrUnavailable) {
							t.Errorf("the handler got %v", err)
						}
					default:
						t.Error("the handler still waits for the store after its run is over")
					}
					back.Store(true)
					if done := w.wait(job); done.State != fairlead.Succeeded || done.Failures != 0 {
						t.Errorf("the job %s after %d failures: %s", done.State, done.Failures, done.Error)
					}
				})
				if len(log.with(t, "run postponed: the store was unavailable")) == 0 {
					t.Error("the log does not say so")
				}
			})
		})
	}
}

func TestASaveUnderAShorterContextEndsWithThat(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &saves{Store: w.store, answer: func(_ context.Context, call int64) (bool, error) { return call < 1000, fairlead.ErrUnavailable }}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			short, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if err := fairlead.Progress(short, "half"); !errors.Is(err, fairlead.ErrUnavailable) {
				t.Errorf("the handler got %v", err)
			}
			return nil // it can do without
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			w.wantSoon("the job", job, time.Minute)
		})
		if calls := store.calls.Load(); calls > 100 {
			t.Errorf("the store was asked %d times", calls)
		}
	})
}

func TestARunWhoseTimeIsOverWhileItSavesHasTimedOut(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = &saves{Store: w.store, answer: func(ctx context.Context, _ int64) (bool, error) {
			<-ctx.Done() // it is not away: it had no time to answer
			return true, ctx.Err()
		}}
		w.handle("k", fairlead.HandlerOptions{MaxAttempts: 1, Timeout: time.Second}, func(ctx context.Context, _ *fairlead.Job) error {
			return fairlead.Progress(ctx, "half")
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			pass(time.Minute)
			if got := w.get(job); got.State != fairlead.Failed || got.Reason != fairlead.ReasonTimeout {
				t.Errorf("the job is %s, reason %q", got.State, got.Reason)
			}
		})
	})
}

// A job that has failed for good was not put off, whatever its handler said of the store.
func TestOnlyWhatIsPutOffIsLoggedAsPutOff(t *testing.T) {
	inBubble(t, func(w *world) {
		log := &lines{}
		w.handle("fatal", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			return fairlead.Fatal(fairlead.ErrUnavailable)
		})
		w.handle("snooze", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return fairlead.SnoozeFor(time.Hour) })
		fatal, snooze := &fairlead.Job{Kind: "fatal"}, &fairlead.Job{Kind: "snooze"}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			w.enqueue(fatal, snooze)
			if done := w.wait(fatal); done.State != fairlead.Failed {
				t.Errorf("the job is %s", done.State)
			}
			pass(time.Minute)
			w.want("the other", snooze, fairlead.Scheduled)
		})
		if found := log.with(t, "run postponed"); len(found) > 0 {
			t.Errorf("the log says %v", found)
		}
	})
}
