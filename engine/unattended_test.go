package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// hooked returns options of a kind and of a node that report failures to h: the handler's
// OnFailed and a listener, under the name of the node.
func (h *heard) hooked(node string) (fairlead.HandlerOptions, engine.Options) {
	failed := func(hook string) func(context.Context, *fairlead.Job, error) {
		return func(_ context.Context, job *fairlead.Job, err error) {
			h.add("%s %s: %s: %v", node, hook, job.Args, err)
		}
	}
	return fairlead.HandlerOptions{MaxAttempts: 1, OnFailed: failed("handler")},
		engine.Options{Listeners: []engine.Listener{{OnFailed: failed("listener")}}}
}

// wants compares what was heard, in any order.
func (h *heard) wants(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	got := slices.Sorted(slices.Values(h.lines))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// both returns what the two hooks of a node say of a failure.
func both(node, args, text string) []string {
	return []string{
		fmt.Sprintf("%s handler: %s: %s", node, args, text),
		fmt.Sprintf("%s listener: %s: %s", node, args, text),
	}
}

// awaiting handles a job: it does what the args say, and then waits for a minute.
func (w *world) awaiting(ctx context.Context, job *fairlead.Job) error {
	switch string(job.Args) {
	case `"answered early"`:
		if err := w.client.Resolve(ctx, job.ID, job.Fence, nil, errors.New("refused early")); err != nil {
			w.t.Error(err)
		}
	case `"retried"`:
		if job.Attempt == 1 {
			return fairlead.Await(time.Minute).OrRetry()
		}
		return nil
	case `"fatal"`:
		return fairlead.Fatal(errors.New("hopeless"))
	}
	return fairlead.Await(time.Minute)
}

func (w *world) refuse(job *fairlead.Job) {
	w.t.Helper()
	if err := w.client.Resolve(w.t.Context(), job.ID, w.get(job).Fence, nil, errors.New("refused")); err != nil {
		w.t.Error(err)
	}
}

func TestOnFailedIsCalledOnceForAJobThatFailsWhileItWaits(t *testing.T) {
	inBubble(t, func(w *world) {
		var h heard
		handler, node := h.hooked("node")
		handler.MaxAttempts = 2
		w.handle("k", handler, w.awaiting)
		w.run(node, func() {
			for _, args := range []string{"expired", "answered", "answered early", "retried", "cancelled", "fatal"} {
				job := &fairlead.Job{Kind: "k", Args: fmt.Appendf(nil, "%q", args)}
				w.enqueue(job)
				pass(time.Second)
				switch args {
				case "answered", "retried":
					w.refuse(job)
				case "cancelled":
					if err := w.client.Cancel(w.t.Context(), job.ID, "changed my mind"); err != nil {
						t.Error(err)
					}
				}
				w.wait(job)
			}
			pass(5 * time.Minute)
		})
		h.wants(t, slices.Concat(
			both("node", `"expired"`, "no answer arrived before the deadline"),
			both("node", `"answered"`, "refused"),
			both("node", `"answered early"`, "refused early"),
			both("node", `"fatal"`, "hopeless"),
		)...)
	})
}

func TestAnotherNodeCallsOnFailedOnceTheNodeThatRanTheJobHasGone(t *testing.T) {
	inBubble(t, func(w *world) {
		var h heard
		start := func(name string) (stop func() error) {
			handler, node := h.hooked(name)
			w.mux = fairlead.NewMux()
			w.handle("k", handler, w.awaiting)
			node.Name = name
			return w.start(node)
		}
		stop := func(stop func() error) {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		jobs := map[string]*fairlead.Job{}
		for _, args := range []string{"fatal", "before it left", "after it left", "expired", "while there is no node"} {
			jobs[args] = &fairlead.Job{Kind: "k", Args: fmt.Appendf(nil, "%q", args)}
		}
		first := start("first")
		for _, job := range jobs {
			w.enqueue(job)
		}
		pass(5 * time.Second)
		w.refuse(jobs["before it left"]) // it looks once more before it leaves
		stop(first)
		second := start("second")
		pass(5 * time.Second)
		third := start("third")
		pass(5 * time.Second)
		w.refuse(jobs["after it left"])
		pass(20 * time.Second)
		stop(second)
		pass(20 * time.Second)
		stop(third)
		pass(time.Second)
		w.refuse(jobs["while there is no node"])
		pass(time.Minute)
		fourth := start("fourth")
		pass(5 * time.Minute)
		stop(fourth)
		h.wants(t, slices.Concat(
			both("first", `"fatal"`, "hopeless"),
			both("first", `"before it left"`, "refused"),
			both("second", `"after it left"`, "refused"),
			both("fourth", `"while there is no node"`, "refused"),
			both("fourth", `"expired"`, "no answer arrived before the deadline"),
		)...)
	})
}

func TestOnFailedIsCalledForAJobThatKillsItsNodes(t *testing.T) {
	inBubble(t, func(w *world) {
		var h heard
		handler, options := h.hooked("node")
		w.handle("k", handler, func(context.Context, *fairlead.Job) error {
			t.Error("it ran")
			return nil
		})
		job := &fairlead.Job{Kind: "k", Args: []byte(`"deadly"`)}
		w.enqueue(job)
		node, err := w.store.Join(w.t.Context(), fairlead.Node{Kinds: []string{"k"}}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := w.store.Claim(w.t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 1})
		if err != nil || len(claimed) != 1 {
			t.Fatal(claimed, err)
		}
		options.MaxCrashes = 1
		w.run(options, func() {
			w.wait(job)
			pass(5 * time.Minute)
		})
		h.wants(t, both("node", `"deadly"`, w.get(job).Error)...)
	})
}

// elsewhere makes a job wait on a node of another process, which has a lease and does nothing more.
func (w *world) elsewhere(job *fairlead.Job, lease time.Duration) {
	w.t.Helper()
	w.enqueue(job)
	node, err := w.store.Join(w.t.Context(), fairlead.Node{Kinds: []string{"k"}}, lease)
	if err != nil {
		w.t.Fatal(err)
	}
	claimed, err := w.store.Claim(w.t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 1})
	if err != nil || len(claimed) != 1 || claimed[0].ID != job.ID {
		w.t.Fatal(claimed, err)
	}
	settled, err := w.store.Settle(w.t.Context(), []fairlead.Settlement{{ID: job.ID, Fence: claimed[0].Fence, Move: fairlead.MoveAwait, After: time.Hour}})
	if err != nil || settled[0] == fairlead.SettledLost {
		w.t.Fatal(settled, err)
	}
}

func TestOnFailedIsCalledIfTheNodeThatRanTheJobWasKilledBefore(t *testing.T) {
	inBubble(t, func(w *world) {
		var h heard
		handler, options := h.hooked("node")
		w.handle("k", handler, w.awaiting)
		job := &fairlead.Job{Kind: "k", Args: []byte(`"orphaned"`)}
		w.elsewhere(job, 30*time.Second)
		w.run(options, func() {
			pass(10 * time.Second)
			w.refuse(job) // the lease of the killed node has not run out
			pass(5 * time.Minute)
		})
		h.wants(t, both("node", `"orphaned"`, "refused")...)
	})
}

// forgetful is a store that at times cannot tell its nodes.
type forgetful struct {
	driver.Store
	fails atomic.Bool
}

func (s *forgetful) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	if s.fails.Load() {
		return nil, fmt.Errorf("nodes: %w", fairlead.ErrUnavailable)
	}
	return s.Store.Nodes(ctx)
}

func TestOnFailedIsCalledThoughTheStoreFailedMeanwhile(t *testing.T) {
	inBubble(t, func(w *world) {
		var h heard
		handler, options := h.hooked("node")
		w.handle("k", handler, w.awaiting)
		store := &forgetful{Store: w.store}
		w.engineStore = store
		own, other := &fairlead.Job{Kind: "k", Args: []byte(`"own"`)}, &fairlead.Job{Kind: "k", Args: []byte(`"other"`)}
		w.elsewhere(other, time.Hour)
		w.run(options, func() {
			w.enqueue(own)
			pass(5 * time.Second)
			store.fails.Store(true)
			w.refuse(other)
			w.refuse(own)
			pass(5 * time.Second)
			store.fails.Store(false)
			pass(5 * time.Minute)
		})
		h.wants(t, both("node", `"own"`, "refused")...)
	})
}

func TestOnFailedIsCalledForAnAnsweredJobOnEveryStore(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store driver.Store) {
		failed := make(chan string, 10)
		mux := fairlead.NewMux()
		options := fairlead.HandlerOptions{OnFailed: func(_ context.Context, job *fairlead.Job, err error) {
			failed <- fmt.Sprintf("%s: %v", job.Args, err)
		}}
		client := fairlead.NewClient(store)
		mux.Handle("k", options, fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
			if string(job.Args) == `"expired"` {
				return fairlead.Await(time.Millisecond)
			}
			// The answer comes first, or finds the job waiting: both count.
			return errors.Join(client.Resolve(ctx, job.ID, job.Fence, nil, errors.New("refused")), fairlead.Await(time.Hour))
		}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- engine.Run(ctx, store, mux, engine.Options{Poll: 50 * time.Millisecond}) }()
		for _, args := range []string{`"expired"`, `"answered"`} {
			if err := client.Enqueue(t.Context(), &fairlead.Job{Kind: "k", Args: []byte(args)}); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for range 2 {
			select {
			case text := <-failed:
				got = append(got, text)
			case <-time.After(patience.Limit):
				t.Fatalf("heard only %q", got)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.(interface{ Close() error }).Close(); err != nil {
			t.Error(err)
		}
		slices.Sort(got)
		if want := []string{`"answered": refused`, `"expired": no answer arrived before the deadline`}; !slices.Equal(got, want) || len(failed) > 0 {
			t.Errorf("heard %q and %d more, want %q", got, len(failed), want)
		}
	})
}
