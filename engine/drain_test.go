package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// drain asks a node for it through the store, and waits until the node has heard.
func (w *world) drain(node *engine.Engine, drain bool) {
	w.t.Helper()
	if err := w.client.Drain(w.t.Context(), node.Stats().Node, drain); err != nil {
		w.t.Fatal(err)
	}
	pass(5 * time.Second) // more than a beat
}

func (w *world) want(what string, job *fairlead.Job, state fairlead.State) {
	w.t.Helper()
	if got := w.get(job); got.State != state {
		w.t.Errorf("%s: the job is %s, want %s", what, got.State, state)
	}
}

func TestADrainedNodeStartsNothingUntilItIsUndone(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		node, stop := w.startEngine(engine.Options{Poll: time.Hour}) // nothing but the undoing wakes it
		pass(time.Second)
		w.drain(node, true)
		nodes, err := w.client.Nodes(w.t.Context())
		if err != nil || len(nodes) != 1 || !nodes[0].Draining {
			t.Errorf("the nodes are listed as %+v (%v)", nodes, err)
		}
		job := &fairlead.Job{Kind: "k"}
		w.enqueue(job)
		pass(5 * time.Minute)
		w.want("while it drains", job, fairlead.Ready)
		if !node.Stats().Alive {
			t.Error("it has lost its lease")
		}
		w.drain(node, false)
		w.want("when it is undone", job, fairlead.Succeeded)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestADrainedNodeFinishesWhatRunsAndGivesBackWhatIsQueued(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("quick", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			time.Sleep(time.Millisecond)
			return nil
		})
		w.handle("slow", fairlead.HandlerOptions{MaxRunning: 50}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		node, stop := w.startEngine(engine.Options{Slots: 1})
		quick := make([]*fairlead.Job, 2000)
		for i := range quick {
			quick[i] = &fairlead.Job{Kind: "quick", Priority: 1}
		}
		slow := make([]*fairlead.Job, 40)
		for i := range slow {
			slow[i] = &fairlead.Job{Kind: "slow"}
		}
		// Quick jobs make the node claim ahead, and so some slow ones wait in it.
		w.enqueue(append(quick, slow...)...)
		pass(time.Minute)
		if node.Stats().Queued == 0 {
			t.Error("the node has claimed nothing ahead")
		}
		w.drain(node, true)
		tally, err := w.client.Tally(w.t.Context(), fairlead.Filter{Kinds: []string{"slow"}})
		if err != nil || tally[fairlead.Running] != 1 || tally[fairlead.Ready] != 39 {
			t.Errorf("while it drains: %v (%v)", tally, err)
		}
		close(release)
		pass(time.Minute)
		tally, err = w.client.Tally(w.t.Context(), fairlead.Filter{Kinds: []string{"slow"}})
		if err != nil || tally[fairlead.Succeeded] != 1 || tally[fairlead.Ready] != 39 {
			t.Errorf("after what ran has ended: %v (%v)", tally, err)
		}
		for _, job := range slow {
			if got := w.get(job); got.State == fairlead.Ready && got.Attempt != 0 {
				t.Errorf("a job that was given back used up attempt %d", got.Attempt)
			}
		}
		w.drain(node, false)
		for _, job := range slow {
			w.wait(job)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestADrainOfTheStoreAndAPauseOfTheProcessDoNotUndoEachOther(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		node, stop := w.startEngine(engine.Options{})
		pass(time.Second)
		job := &fairlead.Job{Kind: "k"}
		w.drain(node, true)
		node.Pause()
		w.enqueue(job)
		node.Resume()
		pass(time.Minute)
		w.want("resumed, but draining", job, fairlead.Ready)
		node.Pause()
		w.drain(node, false)
		pass(time.Minute)
		w.want("undone, but paused", job, fairlead.Ready)
		node.Resume()
		w.wait(job)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestJobsOfAClaimThatIsOvertakenByADrainAreGivenBack(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		store := faulty.New(w.store)
		w.engineStore = store
		node, stop := w.startEngine(engine.Options{})
		pass(time.Second)
		caught, release := store.Hold(faulty.Claim)
		job := &fairlead.Job{Kind: "k"}
		w.enqueue(job)
		<-caught
		w.drain(node, true)
		release()
		synctest.Wait()
		pass(time.Second)
		got := w.get(job)
		if got.State != fairlead.Ready || got.Attempt != 0 {
			t.Errorf("the job is %s after attempt %d", got.State, got.Attempt)
		}
		w.drain(node, false)
		w.wait(job)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestANodeThatStartsOverStillDrains(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		node, stop := w.startEngine(engine.Options{})
		pass(time.Second)
		w.drain(node, true)
		before := node.Stats().Node
		if err := w.store.Leave(w.t.Context(), before); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(time.Minute)
		job := &fairlead.Job{Kind: "k"}
		w.enqueue(job)
		pass(time.Minute)
		if after := node.Stats().Node; after == before || after == 0 {
			t.Errorf("it is node %d after having been node %d", after, before)
		}
		w.want("as a new node", job, fairlead.Ready)
		w.drain(node, false)
		w.wait(job)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
