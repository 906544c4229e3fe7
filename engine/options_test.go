package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

func TestOptionsThatCannotBeMeantAreRefusedByName(t *testing.T) {
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	for name, c := range map[string]struct {
		options engine.Options
		mux     *fairlead.Mux
		refused []string // in this order
		says    string
	}{
		"none at all":           {},
		"the least of all":      {options: engine.Options{Beat: time.Millisecond, Lease: 10 * time.Millisecond}},
		"a lease of three":      {options: engine.Options{Beat: time.Second, Lease: 3 * time.Second}},
		"queues of both sorts":  {options: engine.Options{Queues: []engine.Queue{{Name: "a"}, {Name: "b", Slots: 2}}}},
		"counts below zero":     {options: engine.Options{Slots: -1, QueueSize: -2, ClaimBatch: -3, MaxCrashes: -4, MaxSweeps: -5}, refused: []string{"slots", "queue_size", "claim_batch", "max_crashes", "max_sweeps"}, says: "-5"},
		"times below zero":      {options: engine.Options{Poll: -1, Grace: -1, DrainTimeout: -1, Timeout: -1, StuckLimit: -1}, refused: []string{"poll", "grace", "drain_timeout", "timeout", "stuck_limit"}, says: "must be positive"},
		"a beat below zero":     {options: engine.Options{Beat: -time.Second}, refused: []string{"beat"}, says: "must be positive"},
		"a beat too short":      {options: engine.Options{Beat: time.Millisecond - 1}, refused: []string{"beat"}, says: "at least 1ms"},
		"a lease below zero":    {options: engine.Options{Lease: -time.Second}, refused: []string{"lease", "lease"}, says: "must be positive"},
		"a lease too short":     {options: engine.Options{Beat: time.Millisecond, Lease: 10*time.Millisecond - 1}, refused: []string{"lease"}, says: "at least 10ms"},
		"a lease of two beats":  {options: engine.Options{Beat: time.Second, Lease: 3*time.Second - 1}, refused: []string{"lease"}, says: "three beats"},
		"a mux without kinds":   {mux: fairlead.NewMux(), refused: []string{"mux"}, says: "no handlers"},
		"a queue without name":  {options: engine.Options{Queues: []engine.Queue{{Slots: 1}}}, refused: []string{"queues"}, says: "without a name"},
		"a queue below zero":    {options: engine.Options{Queues: []engine.Queue{{Name: "a", Slots: -1}}}, refused: []string{"queues"}, says: `"a" -1 slots`},
		"a queue that is twice": {options: engine.Options{Queues: []engine.Queue{{Name: "a"}, {Name: "b"}, {Name: "a", Slots: 1}}}, refused: []string{"queues"}, says: `"a" twice`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.mux == nil {
				c.mux = mux
			}
			_, err := engine.New(nil, c.mux, c.options)
			var refused []string
			if invalid := (*fairlead.InvalidError)(nil); errors.As(err, &invalid) {
				for _, field := range invalid.Fields {
					refused = append(refused, field.Field)
				}
			}
			if !slices.Equal(refused, c.refused) || errors.Is(err, fairlead.ErrInvalid) != (len(c.refused) > 0) {
				t.Errorf("refused are %v, want %v: %v", refused, c.refused, err)
			} else if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
}

// seenNode is how the only node stands in the store.
func (w *world) seenNode() fairlead.Node {
	w.t.Helper()
	nodes, err := w.client.Nodes(w.t.Context())
	if err != nil || len(nodes) != 1 {
		w.t.Fatalf("there are %d nodes, %v", len(nodes), err)
	}
	return nodes[0]
}

func TestANodeTellsTheStoreWhatItIs(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		options := engine.Options{
			Name: "n", Address: "here:1", Version: "v1", Slots: 3, QueueSize: 7, MaxSweeps: 2,
			Queues: []engine.Queue{{Name: "a"}, {Name: "b", Slots: 2}},
		}
		w.run(options, func() {
			pass(time.Second)
			node := w.seenNode()
			if node.Name != "n" || node.Address != "here:1" || node.Version != "v1" || node.Slots != 5 || node.Capacity != 7 || node.MaxSweeps != 2 {
				t.Errorf("it is %+v", node)
			}
			slices.Sort(node.Queues)
			if !slices.Equal(node.Queues, []string{"a", "b"}) || !slices.Equal(node.Kinds, []string{"k"}) {
				t.Errorf("it serves the queues %v and the kinds %v", node.Queues, node.Kinds)
			}
		})
	})
}

func TestANodeIsNamedAfterItsHostUnlessItHasAName(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.run(engine.Options{}, func() {
			pass(time.Second)
			if node := w.seenNode(); node.Name != host {
				t.Errorf("it is named %q on %q", node.Name, host)
			}
		})
	})
}

func TestStatsTellWhatTheNodeDoes(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		w.handle("stuck", fairlead.HandlerOptions{Timeout: time.Second, MaxAttempts: 1}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		node, err := engine.New(w.store, w.mux, engine.Options{Slots: 3, QueueSize: 5, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		none := engine.Stats{Slots: 3, Capacity: 5}
		if got := node.Stats(); got != none || node.Ready() {
			t.Errorf("before it runs: %+v, ready is %t", got, node.Ready())
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan error)
		go func() { ended <- node.Run(ctx) }()
		w.enqueue(&fairlead.Job{Kind: "k"}, &fairlead.Job{Kind: "stuck"})
		pass(time.Minute)
		want := engine.Stats{Node: w.seenNode().ID, Alive: true, Slots: 3, Busy: 2, Stuck: 1, Capacity: 5}
		if got := node.Stats(); got != want || !node.Ready() {
			t.Errorf("while it runs: %+v, want %+v; ready is %t", got, want, node.Ready())
		}
		cancel()
		pass(time.Second)
		if node.Ready() {
			t.Error("it is ready while it drains")
		}
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := node.Stats(); got != none || node.Ready() {
			t.Errorf("after it ran: %+v, ready is %t", got, node.Ready())
		}
	})
}
