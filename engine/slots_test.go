package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// gauge counts how many handlers run at once, per name.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func (g *gauge) duringASecond() {
	g.mu.Lock()
	g.now++
	g.most = max(g.most, g.now)
	g.mu.Unlock()
	time.Sleep(time.Second)
	g.mu.Lock()
	g.now--
	g.mu.Unlock()
}

func TestNoMoreJobsRunThanThereAreSlots(t *testing.T) {
	inBubble(t, func(w *world) {
		var running gauge
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			running.duringASecond()
			return nil
		})
		jobs := make([]*fairlead.Job, 100)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k"}
		}
		w.run(engine.Options{Slots: 7}, func() {
			w.enqueue(jobs...)
			begin := time.Now()
			for _, job := range jobs {
				w.wait(job)
			}
			if took := time.Since(begin); took > 18*time.Second {
				t.Errorf("100 jobs of a second on 7 slots took %v: slots were idle", took)
			}
		})
		if most := running.most; most != 7 {
			t.Errorf("%d ran at once, want 7", most)
		}
	})
}

func TestAKindRunsAtMostAsOftenOnANodeAsItAllows(t *testing.T) {
	inBubble(t, func(w *world) {
		var bounded, free gauge
		w.handle("bounded", fairlead.HandlerOptions{MaxRunning: 2}, func(context.Context, *fairlead.Job) error {
			bounded.duringASecond()
			return nil
		})
		w.handle("free", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			free.duringASecond()
			return nil
		})
		var jobs []*fairlead.Job
		for range 20 {
			jobs = append(jobs, &fairlead.Job{Kind: "bounded"}, &fairlead.Job{Kind: "free"})
		}
		begin := time.Now()
		w.run(engine.Options{Slots: 10, Poll: time.Hour}, func() { // nothing but the end of a job makes it claim the next
			w.enqueue(jobs...)
			for _, job := range jobs {
				w.wait(job)
			}
		})
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("10 seconds of work took %v", took)
		}
		if bounded.most != 2 || free.most < 8 {
			t.Errorf("bounded ran %d at once, want 2; free %d, want at least 8", bounded.most, free.most)
		}
	})
}

func TestQueuesHaveTheirOwnSlotsOrShareTheNodes(t *testing.T) {
	inBubble(t, func(w *world) {
		running := map[string]*gauge{"own": {}, "shared": {}, "also": {}, "other": {}}
		w.handle("k", fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			running[job.Queue].duringASecond()
			return nil
		})
		var served []*fairlead.Job
		for range 10 {
			for _, queue := range []string{"own", "shared", "also"} {
				served = append(served, &fairlead.Job{Kind: "k", Queue: queue})
			}
		}
		other := &fairlead.Job{Kind: "k", Queue: "other"}
		options := engine.Options{Slots: 4, Queues: []engine.Queue{{Name: "own", Slots: 1}, {Name: "shared"}, {Name: "also"}}}
		w.run(options, func() {
			w.enqueue(append(served, other)...)
			for _, job := range served {
				w.wait(job)
			}
			if got := w.get(other); got.State != fairlead.Ready {
				t.Errorf("a job of a queue that is not served is %s", got.State)
			}
		})
		if most := running["own"].most; most != 1 {
			t.Errorf("the queue with one slot ran %d at once", most)
		}
		if most := running["shared"].most + running["also"].most; most < 4 || most > 8 {
			t.Errorf("the queues that share 4 slots ran %d at once", most)
		}
	})
}

func TestAPausedNodeClaimsNothingUntilItIsResumed(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		node, stop := w.startEngine(engine.Options{Poll: time.Hour}) // nothing but Resume wakes it
		pass(time.Second)
		node.Pause()
		job := &fairlead.Job{Kind: "k"}
		w.enqueue(job)
		pass(time.Minute)
		if got := w.get(job); got.State != fairlead.Ready {
			t.Errorf("while paused the job became %s", got.State)
		}
		node.Resume()
		w.wantSoon("the job", job, time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAPausedQueueStartsNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{}, func() {
			if err := w.client.PauseQueue(w.t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
			w.enqueue(job)
			pass(time.Minute)
			if got := w.get(job); got.State != fairlead.Ready {
				t.Errorf("while paused the job became %s", got.State)
			}
			if err := w.client.ResumeQueue(w.t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
			w.wait(job)
		})
	})
}
