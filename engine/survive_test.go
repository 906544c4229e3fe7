package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// starved is a store as a starved process sees it: it does not answer in time.
type starved struct {
	driver.Store
	beats atomic.Bool  // beats do not get through
	all   atomic.Bool  // nor does anything else that would show that the node lives
	again atomic.Int64 // how often a life was reported that had been reported before
	told  sync.Map     // lives
}

var errStarved = errors.New("no answer in time")

func (s *starved) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	if s.beats.Load() {
		<-ctx.Done()
		return driver.BeatAnswer{}, errStarved
	}
	return s.Store.Beat(ctx, beat)
}

func (s *starved) Lived(ctx context.Context, node fairlead.NodeID) error {
	if s.all.Load() {
		return errStarved
	}
	if _, before := s.told.LoadOrStore(node, true); before {
		s.again.Add(1)
	}
	return s.Store.Lived(ctx, node)
}

func (s *starved) Leave(ctx context.Context, node fairlead.NodeID) error {
	if s.all.Load() {
		return errStarved
	}
	return s.Store.Leave(ctx, node)
}

func (s *starved) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	if s.all.Load() {
		return 0, errStarved
	}
	return s.Store.Join(ctx, node, lease)
}

func TestLeasesThatAStarvedNodeLosesMakeNoPoison(t *testing.T) {
	for name, silent := range map[string]bool{"it can say at once that it lives": false, "it says so after its jobs were taken back": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				t := w.t // the bubble's
				const lease = 10 * time.Second
				options := engine.Options{Lease: lease, Beat: 2 * time.Second, Slots: 1, MaxCrashes: 1}
				w.handle("other", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
				healthy := w.start(options)

				store := &starved{Store: w.store}
				w.engineStore, w.mux = store, fairlead.NewMux()
				var enough atomic.Bool
				w.handle("long", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
					if enough.Load() {
						return nil
					}
					<-ctx.Done()
					return ctx.Err()
				})
				node := w.start(options)
				pass(2 * lease) // the other node may take jobs back
				job := &fairlead.Job{Kind: "long"}
				w.enqueue(job)
				const losses = 4
				for range losses {
					pass(lease / 2)
					if got := w.get(job); got.State != fairlead.Running {
						t.Fatalf("the job is %s, %s", got.State, got.Error)
					}
					store.all.Store(silent)
					store.beats.Store(true)
					pass(2 * lease)
					store.beats.Store(false)
					store.all.Store(false)
					pass(2 * lease)
				}
				enough.Store(true)
				pass(lease)
				store.beats.Store(true) // once more, as the handler waits for its context
				pass(2 * lease)
				store.beats.Store(false)
				pass(3 * lease)
				got := w.get(job)
				if got.State != fairlead.Succeeded || got.Crashes != 0 {
					t.Errorf("the job %s after %d crashes: %s", got.State, got.Crashes, got.Error)
				}
				attempts, err := w.store.Attempts(t.Context(), job.ID)
				if err != nil {
					t.Fatal(err)
				}
				if len(attempts) <= losses || slices.ContainsFunc(attempts, func(a fairlead.Attempt) bool { return a.Reason != fairlead.ReasonLeaseLost }) {
					t.Errorf("its attempts are %+v", attempts)
				}
				if again := store.again.Load(); again > 2*losses { // an answer may come too late
					t.Errorf("what the store knew was said %d times again", again)
				}
				if err := errors.Join(node(), healthy()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
