package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

func TestAJobRunsAndKeepsOutputAndProgress(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			return errors.Join(fairlead.Progress(ctx, 50), fairlead.SetOutput(ctx, "fine"))
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			done := w.wait(job)
			if done.State != fairlead.Succeeded || string(done.Output) != `"fine"` || string(done.Progress) != "50" || done.Attempt != 1 {
				t.Errorf("got %+v", done)
			}
		})
	})
}

func TestAFailedAttemptIsTriedAgainAfterItsPause(t *testing.T) {
	inBubble(t, func(w *world) {
		var starts []time.Time
		w.handle("k", fairlead.HandlerOptions{Retry: fairlead.Fixed(time.Minute), MaxAttempts: 3}, func(context.Context, *fairlead.Job) error {
			starts = append(starts, time.Now())
			return errors.New("no")
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			done := w.wait(job)
			if done.State != fairlead.Failed || done.Attempt != 3 || done.Failures != 3 || done.Reason != fairlead.ReasonError || done.Error != "no" {
				t.Errorf("got %+v", done)
			}
		})
		for i := 1; i < len(starts); i++ {
			if gap := starts[i].Sub(starts[i-1]); gap < time.Minute-time.Microsecond || gap > time.Minute+time.Second {
				t.Errorf("attempt %d came after %v", i+1, gap)
			}
		}
	})
}

func TestADelayedJobStartsOnTime(t *testing.T) {
	inBubble(t, func(w *world) {
		var started time.Time
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			started = time.Now()
			return nil
		})
		due := time.Now().Add(90*time.Second + 123456*time.Microsecond)
		job := &fairlead.Job{Kind: "k", NotBefore: due}
		w.run(engine.Options{Poll: time.Hour}, func() {
			pass(time.Second)
			w.enqueue(job)
			w.wait(job)
		})
		if late := started.Sub(due); late < -time.Microsecond || late > 50*time.Millisecond {
			t.Errorf("started %v after it was due", late)
		}
	})
}

func TestATimeoutEndsTheContextAndCountsAsFailure(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{Timeout: time.Minute, MaxAttempts: 1}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			if done := w.wait(job); done.State != fairlead.Failed || done.Reason != fairlead.ReasonTimeout {
				t.Errorf("got %s, reason %q", done.State, done.Reason)
			}
		})
	})
}

type abandonments struct {
	engine.NoObserver
	count atomic.Int32
}

func (a *abandonments) Abandoned(*fairlead.Job) { a.count.Add(1) }

func TestAHandlerThatIgnoresItsContextIsAbandonedAfterTheGrace(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		var begun atomic.Bool // the abandoned run and the next have only the database in common
		w.handle("k", fairlead.HandlerOptions{Timeout: time.Minute, Retry: fairlead.Fixed(time.Second)}, func(context.Context, *fairlead.Job) error {
			if !begun.Swap(true) {
				<-release
			}
			return nil
		})
		job := &fairlead.Job{Kind: "k"}
		observer := &abandonments{}
		w.run(engine.Options{Slots: 2, Observer: observer}, func() {
			w.enqueue(job)
			done := w.wait(job)
			if done.State != fairlead.Succeeded || done.Attempt != 2 || done.Failures != 1 {
				t.Errorf("got %+v", done)
			}
			attempts, err := w.client.Attempts(w.t.Context(), job.ID)
			if err != nil || len(attempts) != 1 || attempts[0].Reason != fairlead.ReasonTimeout {
				t.Errorf("recorded attempts: %+v, %v", attempts, err)
			}
			if observer.count.Load() != 1 {
				t.Errorf("%d handlers were abandoned", observer.count.Load())
			}
			close(release) // the late finisher returns nil: it is refused
			synctest.Wait()
			if got := w.get(job); got.Attempt != 2 {
				t.Errorf("the late finisher changed the job: %+v", got)
			}
		})
	})
}

func TestTheSlotOfAStuckHandlerIsGivenAwayInTheEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("stuck", fairlead.HandlerOptions{Timeout: time.Second, MaxAttempts: 1}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		var running gauge
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			running.duringASecond()
			return nil
		})
		stuck, other := &fairlead.Job{Kind: "stuck"}, &fairlead.Job{Kind: "k"}
		node, stop := w.startEngine(engine.Options{Slots: 1, StuckLimit: 5 * time.Minute})
		w.enqueue(stuck)
		w.wait(stuck)
		w.enqueue(other)
		pass(4 * time.Minute)
		if got := w.get(other); got.State.Final() {
			t.Error("the only slot was given away too early")
		}
		w.wait(other)
		pass(time.Second)
		if busy := node.Stats().Busy; busy != 0 {
			t.Errorf("%d slots are busy after that of the stuck handler was given away", busy)
		}
		close(release)
		pass(time.Second)
		// The handler has ended after all, but its slot is no longer its own.
		more := []*fairlead.Job{{Kind: "k"}, {Kind: "k"}, {Kind: "k"}}
		w.enqueue(more...)
		for _, job := range more {
			w.wait(job)
		}
		pass(time.Second)
		if busy := node.Stats().Busy; running.most != 1 || busy != 0 {
			t.Errorf("%d ran at once in one slot, and %d slots are busy at the end", running.most, busy)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{MaxAttempts: 1}, func(context.Context, *fairlead.Job) error { panic("ouch") })
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			if done := w.wait(job); done.Reason != fairlead.ReasonPanic || !strings.Contains(done.Error, "ouch") {
				t.Errorf("got reason %q: %s", done.Reason, done.Error)
			}
		})
	})
}

func TestCancellingARunningJobEndsItsContext(t *testing.T) {
	inBubble(t, func(w *world) {
		running := make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			<-running
			if err := w.client.Cancel(w.t.Context(), job.ID, "changed my mind"); err != nil {
				t.Fatal(err)
			}
			if done := w.wait(job); done.State != fairlead.Cancelled || done.Error != "changed my mind" {
				t.Errorf("got %s: %q", done.State, done.Error)
			}
		})
	})
}

func TestAKindWithoutHandlerIsLeftForOtherNodes(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("known", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		known, unknown := &fairlead.Job{Kind: "known"}, &fairlead.Job{Kind: "unknown"}
		w.run(engine.Options{}, func() {
			w.enqueue(unknown, known)
			w.wait(known)
			pass(time.Minute)
			if got := w.get(unknown); got.State != fairlead.Ready || got.Attempt != 0 {
				t.Errorf("got %s, attempt %d", got.State, got.Attempt)
			}
		})
	})
}

func TestAFailedJobIsToldToOnFailed(t *testing.T) {
	inBubble(t, func(w *world) {
		told := make(chan string, 1)
		options := fairlead.HandlerOptions{OnFailed: func(ctx context.Context, job *fairlead.Job, err error) {
			told <- err.Error()
			if err := w.client.Delete(ctx, job.ID); err != nil { // the policy "remove"
				t.Error(err)
			}
		}}
		w.handle("k", options, func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New("hopeless")) })
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			if got := <-told; got != "hopeless" {
				t.Errorf("told %q", got)
			}
		})
		if _, err := w.client.Get(w.t.Context(), job.ID); !errors.Is(err, fairlead.ErrNotFound) {
			t.Errorf("the removed job: %v", err)
		}
	})
}

func TestAHandlerThatFailsAfterItCompletedItsJobIsNotToldOf(t *testing.T) {
	inBubble(t, func(w *world) {
		options := fairlead.HandlerOptions{OnFailed: func(context.Context, *fairlead.Job, error) { t.Error("OnFailed was called") }}
		w.handle("k", options, func(ctx context.Context, job *fairlead.Job) error {
			completed := fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed, FreeKey: true} // as in a transaction
			if _, err := w.store.Settle(ctx, []fairlead.Settlement{completed}); err != nil {
				t.Error(err)
			}
			return fairlead.Fatal(fairlead.ErrLeaseLost)
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			w.wait(job)
			pass(time.Minute)
		})
		if got := w.get(job); got.State != fairlead.Succeeded {
			t.Errorf("it is %s", got.State)
		}
	})
}

func TestAnAwaitedAnswerEndsTheJobAndItsAbsenceFailsIt(t *testing.T) {
	inBubble(t, func(w *world) {
		fences := make(chan int64, 2)
		w.handle("k", fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			fences <- job.Fence
			return fairlead.Await(time.Minute)
		})
		answered, forgotten := &fairlead.Job{Kind: "k"}, &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(answered)
			fence := <-fences
			pass(time.Second)
			if got := w.get(answered); got.State != fairlead.Waiting {
				t.Fatalf("got %s", got.State)
			}
			if err := w.client.Resolve(w.t.Context(), answered.ID, fence, []byte(`42`), nil); err != nil {
				t.Fatal(err)
			}
			if done := w.wait(answered); done.State != fairlead.Succeeded || string(done.Output) != "42" {
				t.Errorf("answered: %s %s", done.State, done.Output)
			}
			w.enqueue(forgotten)
			if done := w.wait(forgotten); done.State != fairlead.Failed || done.Reason != fairlead.ReasonDeadline {
				t.Errorf("forgotten: %s, reason %q", done.State, done.Reason)
			}
		})
	})
}

func TestReplaceEndsTheJobAndRunsTheOther(t *testing.T) {
	inBubble(t, func(w *world) {
		next := &fairlead.Job{Kind: "next"}
		ran := make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return fairlead.Replace(next) })
		w.handle("next", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			close(ran)
			return nil
		})
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			w.enqueue(job)
			<-ran
			if done := w.wait(job); done.State != fairlead.Succeeded {
				t.Errorf("the replaced job is %s", done.State)
			}
		})
	})
}

func TestFinishedJobsArePrunedAfterTheirRetention(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Retention: driver.Retention{Succeeded: 3 * time.Minute}}, func() {
			w.enqueue(job)
			w.wait(job)
			pass(170 * time.Second)
			w.get(job)
			pass(2 * time.Minute)
			if _, err := w.client.Get(w.t.Context(), job.ID); !errors.Is(err, fairlead.ErrNotFound) {
				t.Errorf("after its retention: %v", err)
			}
		})
	})
}
