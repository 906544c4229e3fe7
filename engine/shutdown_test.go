package engine_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

func TestShutdownLetsRunningJobsFinishAndReleasesTheRest(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			time.Sleep(10 * time.Second)
			return nil
		})
		var jobs []*fairlead.Job
		for range 20 {
			jobs = append(jobs, &fairlead.Job{Kind: "k"})
		}
		w.run(engine.Options{Slots: 2}, func() {
			w.enqueue(jobs...)
			pass(5 * time.Second)
		})
		nodes, err := w.client.Nodes(w.t.Context())
		if err != nil || len(nodes) > 0 && !nodes[0].Dead {
			t.Errorf("it has not left: %+v, %v", nodes, err)
		}
		counts, err := w.client.Tally(w.t.Context(), fairlead.Filter{})
		if err != nil || counts[fairlead.Succeeded] != 2 || counts[fairlead.Ready] != 18 {
			t.Errorf("after the shutdown: %v, %v", counts, err)
		}
		for _, job := range jobs {
			if got := w.get(job); got.State == fairlead.Ready && got.Attempt != 0 {
				t.Errorf("a released job used up attempt %d", got.Attempt)
			}
		}
	})
}

func TestShutdownEndsHandlersAfterTheDrainTimeoutWithoutUsingUpAnAttempt(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		job := &fairlead.Job{Kind: "k"}
		var begin time.Time
		w.run(engine.Options{DrainTimeout: time.Minute}, func() {
			w.enqueue(job)
			pass(time.Second)
			begin = time.Now()
		})
		if took := time.Since(begin); took < time.Minute || took > 62*time.Second {
			t.Errorf("draining took %v", took)
		}
		if got := w.get(job); got.State != fairlead.Ready || got.Attempt != 0 || got.Failures != 0 {
			t.Errorf("got %s, attempt %d, failures %d", got.State, got.Attempt, got.Failures)
		}
	})
}

func TestShutdownReportsHandlersThatWillNotEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		stop := w.start(engine.Options{DrainTimeout: time.Minute, Grace: time.Second})
		w.enqueue(&fairlead.Job{Kind: "k"})
		pass(time.Second)
		if err := stop(); err == nil || !strings.Contains(err.Error(), "1 handlers") {
			t.Errorf("got %v", err)
		}
		close(release)
		synctest.Wait()
	})
}

func TestALeaseThatIsLostDuringAShutdownEndsTheHandlers(t *testing.T) {
	inBubble(t, func(w *world) {
		log := &lines{}
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		job := &fairlead.Job{Kind: "k"}
		node, stop := w.startEngine(engine.Options{DrainTimeout: time.Hour, Logger: slog.New(slog.NewJSONHandler(log, nil))})
		w.enqueue(job)
		pass(time.Second)
		id, begin, ended := node.Stats().Node, time.Now(), make(chan error, 1)
		go func() { ended <- stop() }()
		pass(time.Minute)
		w.want("while it drains", job, fairlead.Running)
		if err := w.store.Leave(w.t.Context(), id); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 2*time.Minute {
			t.Errorf("it ended after %v", took)
		}
		if len(log.with(t, "lease lost while shutting down")) != 1 {
			t.Error("the log does not say that the lease was lost")
		}
	})
}

// deadNode joins, claims everything, and is never heard of again.
func (w *world) deadNode(lease time.Duration) []*fairlead.Job {
	w.t.Helper()
	id, err := w.store.Join(w.t.Context(), fairlead.Node{Name: "doomed"}, lease)
	if err != nil {
		w.t.Fatal(err)
	}
	jobs, err := w.store.Claim(w.t.Context(), driver.Claim{Node: id, Scope: &driver.Scope{Kinds: w.mux.Kinds()}, Max: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return jobs
}

func TestJobsOfADeadNodeRunAgainWhenItsLeaseIsOver(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{MaxAttempts: 1}, func(context.Context, *fairlead.Job) error { return nil })
		jobs := make([]*fairlead.Job, 50)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k"}
		}
		w.run(engine.Options{}, func() {
			pass(time.Minute)
			if err := w.client.PauseKind(w.t.Context(), "k"); err != nil { // the doomed node gets them all
				t.Fatal(err)
			}
			w.enqueue(jobs...)
			if err := w.client.ResumeKind(w.t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
			patient := func() { // it dies much later
				if _, err := w.store.Join(w.t.Context(), fairlead.Node{Name: "patient"}, time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			patient()
			w.deadNode(10 * time.Second)
			patient()
			begin := time.Now()
			for _, job := range jobs {
				w.wait(job)
			}
			if took := time.Since(begin); took > 10*time.Second+600*time.Millisecond {
				t.Errorf("it took %v", took)
			}
		})
	})
}

func TestANodeThatLostItsLeaseStartsOverAndItsHandlersEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		ended := make(chan struct{}, 10)
		runs := 0
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			if runs++; runs > 1 {
				return nil
			}
			<-ctx.Done()
			ended <- struct{}{}
			return ctx.Err()
		})
		job := &fairlead.Job{Kind: "k"}
		node, stop := w.startEngine(engine.Options{})
		w.enqueue(job)
		pass(time.Second)
		first := node.Stats().Node
		if err := w.store.Leave(w.t.Context(), first); err != nil { // another node declares it dead
			t.Fatal(err)
		}
		<-ended
		done := w.wait(job)
		if done.State != fairlead.Succeeded || done.Crashes != 0 || done.Failures != 0 {
			t.Errorf("got %+v", done)
		}
		if second := node.Stats().Node; second <= first {
			t.Errorf("node %d became node %d", first, second)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestANodeThatLostItsLeaseStartsOverThoughAHandlerWillNotEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("quick", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			time.Sleep(time.Millisecond)
			return nil
		})
		w.handle("deaf", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		seen := &abandonments{}
		node, stop := w.startEngine(engine.Options{Slots: 1, Observer: seen})
		var jobs []*fairlead.Job // the quick ones make the node claim ahead, and so some of the others wait in it
		for range 500 {
			jobs = append(jobs, &fairlead.Job{Kind: "quick", Priority: 1})
		}
		for range 10 {
			jobs = append(jobs, &fairlead.Job{Kind: "deaf"})
		}
		w.enqueue(jobs...)
		pass(time.Minute)
		before := node.Stats()
		if before.Queued == 0 {
			t.Error("the node has claimed nothing ahead")
		}
		if err := w.store.Leave(w.t.Context(), before.Node); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(time.Minute)
		if after := node.Stats(); after.Node <= before.Node || !after.Alive || after.Busy != 1 {
			t.Errorf("after node %d it is %+v", before.Node, after)
		}
		if n := seen.count.Load(); n != 1 {
			t.Errorf("%d handlers are said to ignore their end, but only one ran", n)
		}
		close(release)
		for _, job := range jobs {
			w.wait(job)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// lateSuspects is a store whose answer to a claim of a suspect does not come until it is
// released.
type lateSuspects struct {
	driver.Store
	begun   atomic.Bool // before, there are none
	release chan struct{}
}

func (s *lateSuspects) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	if claim.Solo && !s.begun.Load() {
		return nil, nil
	}
	jobs, err := s.Store.Claim(ctx, claim)
	if claim.Solo && len(jobs) > 0 {
		<-s.release
	}
	return jobs, err
}

func TestJobsOfAClaimThatIsOvertakenByALostLeaseAreNoHandlersThatWillNotEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		end := make(chan struct{})
		w.handle("deaf", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-end
			return nil
		})
		suspect := &fairlead.Job{Kind: "deaf"}
		w.enqueue(suspect)
		w.makeSuspects()
		store := &lateSuspects{Store: w.store, release: make(chan struct{})}
		w.engineStore = store
		seen := &abandonments{}
		node, stop := w.startEngine(engine.Options{Slots: 2, Lease: time.Hour, Observer: seen})
		pass(time.Minute)
		store.begun.Store(true)
		pass(2 * time.Second) // the suspect is claimed, but the node does not know it
		w.enqueue(&fairlead.Job{Kind: "deaf"}, &fairlead.Job{Kind: "deaf"})
		pass(time.Second)
		if err := w.store.Leave(w.t.Context(), node.Stats().Node); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(5 * time.Second)
		close(store.release)
		pass(time.Minute)
		if n := seen.count.Load(); n != 2 {
			t.Errorf("%d handlers are said to ignore their end, but two ran", n)
		}
		close(end)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// makeSuspects lets nodes die that have all jobs, until these are suspected of it.
func (w *world) makeSuspects() {
	w.t.Helper()
	for range driver.SoloAfter {
		w.deadNode(time.Second)
		pass(2 * time.Second)
		if _, err := w.store.Reap(w.t.Context(), driver.Reap{MaxCrashes: 20, Limit: 10}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestAJobThatKillsItsNodesIsFoundOut(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		w.enqueue(job)
		reap := driver.Reap{MaxCrashes: 5, Limit: 10}
		for range reap.MaxCrashes {
			id, err := w.store.Join(w.t.Context(), fairlead.Node{}, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			scope := &driver.Scope{Kinds: []string{"k"}}
			for _, solo := range []bool{false, true} {
				if _, err := w.store.Claim(w.t.Context(), driver.Claim{Node: id, Scope: scope, Max: 1, Solo: solo}); err != nil {
					t.Fatal(err)
				}
			}
			pass(2 * time.Second)
			if _, err := w.store.Reap(w.t.Context(), reap); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.get(job); got.State != fairlead.Failed || got.Reason != fairlead.ReasonPoison {
			t.Errorf("got %s, reason %q after %d crashes", got.State, got.Reason, got.Crashes)
		}
	})
}

func TestASuspectRunsAloneAmongSuspects(t *testing.T) {
	inBubble(t, func(w *world) {
		var suspects, others gauge
		w.handle("k", fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			if job.Solo {
				suspects.duringASecond()
			} else {
				others.duringASecond()
			}
			return nil
		})
		jobs := make([]*fairlead.Job, 5)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k"}
		}
		w.enqueue(jobs...)
		w.makeSuspects()
		w.run(engine.Options{}, func() {
			innocent := &fairlead.Job{Kind: "k"}
			w.enqueue(innocent)
			for _, job := range append(jobs, innocent) {
				w.wait(job)
			}
		})
		if suspects.most != 1 || others.most != 1 {
			t.Errorf("%d suspects ran at once, and %d others", suspects.most, others.most)
		}
	})
}
