package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// awkward is a store that misbehaves in one way.
type awkward struct {
	driver.Store
	beat   func(ctx context.Context) error
	settle func(settlements []fairlead.Settlement) error
	now    func() error
	held   func(found []driver.Held) // after the store has looked, before it answers
}

func (a *awkward) Now(ctx context.Context) (time.Time, error) {
	if a.now != nil {
		if err := a.now(); err != nil {
			return time.Time{}, err
		}
	}
	return a.Store.Now(ctx)
}

func (a *awkward) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	held, err := a.Store.Held(ctx, node)
	if a.held != nil {
		a.held(held)
	}
	return held, err
}

func (a *awkward) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	if a.beat != nil {
		if err := a.beat(ctx); err != nil {
			return driver.BeatAnswer{}, err
		}
	}
	return a.Store.Beat(ctx, beat)
}

func (a *awkward) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if a.settle != nil {
		if err := a.settle(settlements); err != nil {
			return nil, err
		}
	}
	return a.Store.Settle(ctx, settlements)
}

func TestASettlementThatTheStoreRefusesHoldsUpNobody(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = &awkward{Store: w.store, settle: func(settlements []fairlead.Settlement) error {
			for _, s := range settlements {
				if s.Memo != nil {
					return errors.New("that cannot be stored")
				}
			}
			return nil
		}}
		w.handle("good", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.handle("bad", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			return fairlead.SnoozeFor(time.Hour).Remember("x")
		})
		bad, good := &fairlead.Job{Kind: "bad"}, &fairlead.Job{Kind: "good"}
		w.run(engine.Options{}, func() {
			w.enqueue(bad, good)
			if done := w.wait(good); done.State != fairlead.Succeeded || done.Attempt != 1 {
				t.Errorf("the good job is %s at attempt %d", done.State, done.Attempt)
			}
			if done := w.wait(bad); done.State != fairlead.Failed || done.Reason != fairlead.ReasonFatal {
				t.Errorf("the bad job is %s, reason %q", done.State, done.Reason)
			}
		})
	})
}

func TestASettlementThatTheStoreRefusesFailsNoneThatIsWrittenWithIt(t *testing.T) {
	inBubble(t, func(w *world) {
		writes := 0
		w.engineStore = &awkward{Store: w.store, settle: func(settlements []fairlead.Settlement) error {
			if writes++; writes == 1 {
				time.Sleep(time.Second) // the others come together
			}
			for _, s := range settlements {
				if s.Memo != nil {
					return errors.New("that cannot be stored")
				}
			}
			return nil
		}}
		// They end in the order of their ids.
		w.handle("good", fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			time.Sleep(time.Duration(job.ID) * time.Millisecond)
			return nil
		})
		w.handle("bad", fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			time.Sleep(time.Duration(job.ID) * time.Millisecond)
			return fairlead.SnoozeFor(time.Hour).Remember("x")
		})
		jobs := []*fairlead.Job{{Kind: "good"}, {Kind: "good"}, {Kind: "bad"}, {Kind: "good"}}
		w.enqueue(jobs...)
		w.run(engine.Options{}, func() {
			for i, job := range jobs {
				want := fairlead.Succeeded
				if job.Kind == "bad" {
					want = fairlead.Failed
				}
				if done := w.wait(job); done.State != want || done.Attempt != 1 {
					t.Errorf("job %d is %s at attempt %d: %s", i, done.State, done.Attempt, done.Error)
				}
			}
		})
	})
}

// The key of a successor may be held by a transaction that is open for long.
func TestARunWhoseSuccessorHasToWaitForItsKeyHoldsUpNobody(t *testing.T) {
	inBubble(t, func(w *world) {
		tries, open := 0, make(chan struct{})
		w.engineStore = &awkward{Store: w.store, settle: func(settlements []fairlead.Settlement) error {
			for _, s := range settlements {
				if s.Replace == nil {
					continue
				}
				if tries++; tries < 10 {
					return fmt.Errorf("it waited for too long: %w", fairlead.ErrUnavailable)
				}
				<-open
			}
			return nil
		}}
		w.handle("good", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.handle("next", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			return fairlead.Replace(&fairlead.Job{Kind: "good", Key: "held"})
		})
		next := &fairlead.Job{Kind: "next"}
		w.run(engine.Options{Lease: time.Hour}, func() {
			w.enqueue(next)
			pass(time.Minute)
			good := &fairlead.Job{Kind: "good"}
			w.enqueue(good)
			if done := w.wait(good); done.State != fairlead.Succeeded || done.Attempt != 1 {
				t.Errorf("the good job is %s at attempt %d", done.State, done.Attempt)
			}
			if waiting := w.get(next); waiting.State != fairlead.Running {
				t.Errorf("the job whose successor waits is %s", waiting.State)
			}
			close(open)
			if done := w.wait(next); done.State != fairlead.Succeeded {
				t.Errorf("the job whose successor waited is %s: %s", done.State, done.Error)
			}
		})
	})
}

func TestAnOutageThatEndsAtAnyMomentFailsNoJob(t *testing.T) {
	for outage := 1; outage <= 12; outage++ {
		inBubble(t, func(w *world) {
			broken := errors.New("no connection")
			var tries atomic.Int64 // the loops of a node ask at the same time
			w.engineStore = &awkward{
				Store: w.store,
				settle: func([]fairlead.Settlement) error {
					if tries.Add(1) <= int64(outage) {
						return broken
					}
					return nil
				},
				now: func() error {
					if tries.Load() < int64(outage) { // it is back right after the last write that failed
						return broken
					}
					return nil
				},
			}
			w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
			job := &fairlead.Job{Kind: "k"}
			w.run(engine.Options{Lease: time.Hour}, func() {
				w.enqueue(job)
				if done := w.wait(job); done.State != fairlead.Succeeded {
					t.Errorf("after %d writes that failed the job is %s: %s", outage, done.State, done.Error)
				}
			})
		})
	}
}

func TestAJobThatIsSettledWhileTheNodeLooksForStraysIsNoStray(t *testing.T) {
	inBubble(t, func(w *world) {
		end, forgotten := make(chan struct{}), make(chan struct{})
		var looked sync.Once
		w.engineStore = &awkward{
			Store: w.store,
			held: func(found []driver.Held) {
				if len(found) == 0 {
					return
				}
				looked.Do(func() {
					close(end)
					<-forgotten
				})
			},
			settle: func(settlements []fairlead.Settlement) error {
				if len(settlements) == 0 {
					t.Error("the store was asked to settle nothing")
				}
				for _, s := range settlements {
					if s.Move == fairlead.MoveRelease {
						t.Errorf("job %d was released", s.ID)
					}
				}
				return nil
			},
		}
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-end
			return nil
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Observer: &lastEnd{ended: forgotten}}, func() {
			w.enqueue(job)
			if done := w.wait(job); done.State != fairlead.Succeeded {
				t.Errorf("the job is %s", done.State)
			}
			pass(time.Minute)
		})
	})
}

// The database committed a claim, and its answer was lost. The node lives, so that no
// other takes the jobs back.
func TestJobsOfAClaimWhoseAnswerIsLostAreReleasedAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		store := faulty.New(w.store)
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Lease: time.Hour}, func() {
			pass(time.Minute)
			store.LoseAnswer(1, faulty.Claim)
			w.enqueue(job)
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
			defer cancel()
			if done, err := w.client.Wait(ctx, job.ID); err != nil || done.State != fairlead.Succeeded || done.Crashes != 0 {
				t.Errorf("it is %+v, %v", done, err)
			}
		})
	})
}

func TestABeatThatTheEndOfTheNodeCutsOffIsNoFailure(t *testing.T) {
	inBubble(t, func(w *world) {
		var hangs atomic.Bool
		caught := make(chan struct{}, 10)
		w.engineStore = &awkward{Store: w.store, beat: func(ctx context.Context) error {
			if hangs.Load() {
				caught <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		log := &lines{}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			pass(time.Minute)
			hangs.Store(true)
			<-caught
		})
		if found := log.with(t, "heartbeat failed"); len(found) > 0 {
			t.Errorf("the log says %v", found)
		}
	})
}

// lastEnd returns when the node has forgotten its only job.
type lastEnd struct {
	engine.NoObserver
	ended chan struct{}
}

func (l *lastEnd) Ended(*fairlead.Job, fairlead.Settlement, fairlead.Settled, time.Duration) {
	close(l.ended)
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics if e is nil

func TestAnErrorOrARetryDelayThatPanicsFailsItsJobAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		once := fairlead.HandlerOptions{MaxAttempts: 1}
		w.handle("typed nil", once, func(context.Context, *fairlead.Job) error {
			var e *nilError
			return e
		})
		twice := fairlead.HandlerOptions{MaxAttempts: 2, RetryDelay: func(*fairlead.Job, error) time.Duration { panic("no idea") }}
		w.handle("delay", twice, func(context.Context, *fairlead.Job) error { return errors.New("no") })
		typed, delay := &fairlead.Job{Kind: "typed nil"}, &fairlead.Job{Kind: "delay"}
		w.run(engine.Options{}, func() {
			w.enqueue(typed, delay)
			for _, job := range []*fairlead.Job{typed, delay} {
				if done := w.wait(job); done.State != fairlead.Failed || done.Reason != fairlead.ReasonPanic {
					t.Errorf("%s: %s, reason %q", job.Kind, done.State, done.Reason)
				}
			}
		})
	})
}

func TestOneUnansweredBeatIsNoDeath(t *testing.T) {
	inBubble(t, func(w *world) {
		var beats atomic.Int32
		w.engineStore = &awkward{Store: w.store, beat: func(ctx context.Context) error {
			if beats.Add(1) == 3 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Minute):
				return nil
			}
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			if done := w.wait(job); done.State != fairlead.Succeeded || done.Attempt != 1 || done.Crashes != 0 {
				t.Errorf("got %s at attempt %d after %d crashes", done.State, done.Attempt, done.Crashes)
			}
		})
	})
}

func TestABoundOfAKindHoldsAcrossQueuesWithTheirOwnSlots(t *testing.T) {
	inBubble(t, func(w *world) {
		var running gauge
		w.handle("k", fairlead.HandlerOptions{MaxRunning: 1}, func(context.Context, *fairlead.Job) error {
			running.duringASecond()
			return nil
		})
		var jobs []*fairlead.Job
		for range 10 {
			jobs = append(jobs, &fairlead.Job{Kind: "k", Queue: "a"}, &fairlead.Job{Kind: "k", Queue: "b"})
		}
		w.run(engine.Options{Queues: []engine.Queue{{Name: "a", Slots: 4}, {Name: "b", Slots: 4}}}, func() {
			w.enqueue(jobs...)
			for _, job := range jobs {
				w.wait(job)
			}
		})
		if running.most != 1 {
			t.Errorf("%d ran at once, want 1", running.most)
		}
	})
}

func TestAnOnFailedThatHangsDoesNotKeepTheNodeFromEnding(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		options := fairlead.HandlerOptions{MaxAttempts: 1, OnFailed: func(context.Context, *fairlead.Job, error) { <-release }}
		w.handle("k", options, func(context.Context, *fairlead.Job) error { return errors.New("no") })
		job := &fairlead.Job{Kind: "k"}
		var begin time.Time
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			w.wait(job)
			begin = time.Now()
		})
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("ending took %v", took)
		}
		close(release)
	})
}

// A node that claims nothing because the store does not keep up goes on as soon
// as it does.
func TestASlowStoreIsClaimedFromAgainWhenItHasCaughtUp(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = &awkward{Store: w.store, settle: func([]fairlead.Settlement) error {
			time.Sleep(time.Second)
			if tally, err := w.client.Tally(w.t.Context(), fairlead.Filter{}); err != nil || tally[fairlead.Running] > 10 {
				t.Errorf("%d jobs are held by a node with one slot, %v", tally[fairlead.Running], err)
			}
			return nil
		}}
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		jobs := make([]*fairlead.Job, 50)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k"}
		}
		w.enqueue(jobs...)
		begin := time.Now()
		w.run(engine.Options{Slots: 1, QueueSize: 1, Poll: time.Hour}, func() {
			for _, job := range jobs {
				w.wait(job)
			}
		})
		if took := time.Since(begin); took > 5*time.Minute {
			t.Errorf("50 jobs took %v: the node waited for its next poll", took)
		}
	})
}
