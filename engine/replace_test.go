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
)

// heldKeys is a store in which open transactions hold keys. Like that of PostgreSQL it
// settles one replacement after the other, and waits for keys until a call is over.
type heldKeys struct {
	driver.Store
	mu   sync.Mutex
	open map[string]chan struct{} // closed when the transaction ends
}

func hold(store driver.Store, keys ...string) *heldKeys {
	h := &heldKeys{Store: store, open: map[string]chan struct{}{}}
	for _, key := range keys {
		h.open[key] = make(chan struct{})
	}
	return h
}

func (h *heldKeys) free(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.open[key])
	delete(h.open, key)
}

func (h *heldKeys) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	const queryTimeout = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	var all []fairlead.Settled
	var failed error
	for i := range settlements {
		if err := h.await(ctx, settlements[i].Replace); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		settled, err := h.Store.Settle(context.WithoutCancel(ctx), settlements[i:i+1])
		failed = errors.Join(failed, err)
		all = append(all, settled...)
	}
	return all, failed
}

func (h *heldKeys) await(ctx context.Context, next *fairlead.Job) error {
	if next == nil {
		return nil
	}
	h.mu.Lock()
	open := h.open[next.Key]
	h.mu.Unlock()
	if open == nil {
		return nil
	}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", fairlead.ErrUnavailable, ctx.Err())
	}
}

// replacing registers the kinds "replace" and "swap", whose args are the key of the
// successor, and two kinds that do nothing.
func (w *world) replacing() {
	for _, kind := range []string{"replace", "swap"} {
		w.handle(kind, fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			return fairlead.Replace(&fairlead.Job{Kind: "next", Key: string(job.Args), OnDuplicate: fairlead.KeepDuplicate})
		})
	}
	w.handle("plain", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
	w.handle("next", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
}

func replacement(key string) *fairlead.Job {
	return &fairlead.Job{Kind: "replace", Args: []byte(key)}
}

// wantSoon fails unless a job succeeds within a time.
func (w *world) wantSoon(what string, job *fairlead.Job, within time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	if done, err := w.client.Wait(ctx, job.ID); err != nil {
		w.t.Errorf("%s is %s after %v", what, w.get(job).State, within)
	} else if done.State != fairlead.Succeeded || done.Attempt != 1 {
		w.t.Errorf("%s is %s at attempt %d: %s", what, done.State, done.Attempt, done.Error)
	}
}

func TestAHeldKeyHoldsUpNoReplacementUnderAnotherKey(t *testing.T) {
	inBubble(t, func(w *world) {
		store := hold(w.store, `"a"`, `"b"`, `"c"`)
		w.engineStore = store
		w.replacing()
		held, with := replacement(`"a"`), replacement(`"free"`)
		w.enqueue(held, replacement(`"b"`), replacement(`"c"`), with)
		w.run(engine.Options{}, func() {
			w.wantSoon("the replacement that ended with those whose keys are held", with, 5*time.Second)
			pass(time.Minute)
			later := replacement(`"later"`)
			w.enqueue(later)
			w.wantSoon("the replacement that ended later", later, 5*time.Second)
			w.want("the job whose key is held", held, fairlead.Running)
			for _, key := range []string{`"a"`, `"b"`, `"c"`} {
				store.free(key)
			}
			w.wantSoon("the job whose key was held", held, 5*time.Second)
		})
	})
}

func TestRunsThatWaitForKeysStopTheClaimsOfTheirKindOnly(t *testing.T) {
	for _, slotsOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("slots only %t", slotsOnly), func(t *testing.T) {
			inBubble(t, func(w *world) {
				store := hold(w.store, `"a"`, `"b"`)
				w.engineStore = store
				w.replacing()
				var jobs []*fairlead.Job
				for range 20 {
					jobs = append(jobs, replacement(`"a"`), replacement(`"b"`))
				}
				w.run(engine.Options{Slots: 2, QueueSize: 8, SlotsOnly: slotsOnly, Poll: time.Hour}, func() {
					swap := &fairlead.Job{Kind: "swap", Args: []byte(`"c"`)}
					w.enqueue(swap)
					w.wantSoon("a job whose key is free", swap, 5*time.Second)
					w.enqueue(jobs...)
					pass(time.Minute)
					running := 0
					for _, job := range jobs {
						if w.get(job).State == fairlead.Running {
							running++
						}
					}
					if running == 0 || running > 2*(2+8) {
						t.Errorf("%d runs wait for the keys of their successors", running)
					}
					plain, swap := &fairlead.Job{Kind: "plain"}, &fairlead.Job{Kind: "swap", Args: []byte(`"c"`)}
					w.enqueue(plain, swap)
					w.wantSoon("the job of another kind", plain, 5*time.Second)
					w.wantSoon("the job of another kind that has a successor", swap, 5*time.Second)
					store.free(`"a"`)
					store.free(`"b"`)
					for _, job := range jobs {
						w.wantSoon("a job whose key was held", job, time.Minute)
					}
				})
			})
		})
	}
}

func TestReplacementsWhoseKeysAreFreeDoNotWaitForEachOther(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = &awkward{Store: w.store, settle: func([]fairlead.Settlement) error {
			time.Sleep(100 * time.Millisecond) // others end meanwhile
			return nil
		}}
		w.replacing()
		w.run(engine.Options{}, func() {
			begin := time.Now()
			for i := range 20 {
				next := replacement(fmt.Sprintf(`"%d"`, i))
				w.enqueue(next)
				w.wantSoon("a replacement", next, 5*time.Second)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("20 of them, one after the other, took %v", took)
			}
			many := make([]*fairlead.Job, 300) // more than one write takes
			for i := range many {
				many[i] = replacement(fmt.Sprintf(`"of many %d"`, i))
			}
			w.enqueue(many...)
			for _, job := range many {
				w.wantSoon("one of many", job, time.Minute)
			}
		})
	})
}

// A suspect whose end waits for a key does not run any more: the next suspect may. When
// the key is free, that one is still the only suspect that runs.
func TestASuspectThatWaitsForAKeyGivesItsPlaceToOneOther(t *testing.T) {
	inBubble(t, func(w *world) {
		var running gauge
		w.replacing()
		w.handle("suspect", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			for range 30 {
				running.duringASecond()
			}
			return nil
		})
		held := replacement(`"a"`)
		held.Priority = 1
		jobs := []*fairlead.Job{held, {Kind: "suspect"}, {Kind: "suspect"}}
		w.enqueue(jobs...)
		w.makeSuspects()
		store := hold(w.store, `"a"`)
		w.engineStore = store
		w.run(engine.Options{}, func() {
			pass(10 * time.Second)
			w.want("the suspect whose key is held", held, fairlead.Running)
			w.want("the next suspect", jobs[1], fairlead.Running)
			store.free(`"a"`)
			for _, job := range jobs {
				w.wait(job)
			}
		})
		if running.most != 1 {
			t.Errorf("%d suspects ran at once", running.most)
		}
	})
}

func TestANodeThatEndsReleasesRunsWhoseKeysAreStillHeld(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = hold(w.store, `"a"`)
		w.replacing()
		job := replacement(`"a"`)
		w.enqueue(job)
		stop := w.start(engine.Options{})
		pass(time.Minute)
		w.want("the job whose key is held", job, fairlead.Running)
		begin := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("the node took %v to end", took)
		}
		if got := w.get(job); got.State != fairlead.Ready || got.Attempt != 0 || got.Crashes != 0 {
			t.Errorf("the job is %s after %d attempts and %d crashes", got.State, got.Attempt, got.Crashes)
		}
	})
}

func TestANodeThatLostItsLeaseDoesNotWaitForKeysThatAreHeld(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = hold(w.store, `"a"`, `"b"`)
		w.replacing()
		w.enqueue(replacement(`"a"`), replacement(`"b"`))
		log := &lines{}
		node, stop := w.startEngine(engine.Options{Lease: time.Hour, Logger: slog.New(slog.NewJSONHandler(log, nil))})
		pass(time.Minute)
		before := node.Stats()
		if before.Unsaved != 2 {
			t.Errorf("%d runs wait for keys", before.Unsaved)
		}
		if err := w.store.Leave(w.t.Context(), before.Node); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(time.Minute)
		if after := node.Stats(); after.Node <= before.Node || after.Unsaved != 0 {
			t.Errorf("after node %d it is %+v", before.Node, after)
		}
		if found := log.with(t, "settlements dropped: their leases are lost"); len(found) != 1 || found[0]["jobs"] != 2.0 {
			t.Errorf("of what it gave up the log says %v", found)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestANodeThatLostItsLeaseDoesNotWaitForAStoreThatIsAway(t *testing.T) {
	inBubble(t, func(w *world) {
		var away atomic.Bool
		broken := func() error {
			if away.Load() {
				return errors.New("no connection")
			}
			return nil
		}
		w.engineStore = &awkward{Store: w.store, now: broken, settle: func([]fairlead.Settlement) error { return broken() }}
		w.replacing()
		node, stop := w.startEngine(engine.Options{Lease: time.Hour})
		pass(time.Second)
		away.Store(true)
		w.enqueue(replacement(`"a"`), &fairlead.Job{Kind: "plain"})
		pass(time.Minute)
		before := node.Stats()
		if before.Unsaved != 2 {
			t.Errorf("%d runs wait for the store", before.Unsaved)
		}
		if err := w.store.Leave(w.t.Context(), before.Node); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(time.Minute)
		if after := node.Stats(); after.Node <= before.Node {
			t.Errorf("after node %d it is %+v", before.Node, after)
		}
		away.Store(false)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestANodeThatEndsStillWritesRunsWhoseKeysBecomeFree(t *testing.T) {
	inBubble(t, func(w *world) {
		store := hold(w.store, `"a"`)
		w.engineStore = store
		w.replacing()
		job := replacement(`"a"`)
		w.enqueue(job)
		stop := w.start(engine.Options{})
		pass(time.Minute)
		time.AfterFunc(5*time.Second, func() { store.free(`"a"`) })
		if err := stop(); err != nil {
			t.Error(err)
		}
		w.want("the job whose key was held", job, fairlead.Succeeded)
	})
}

func TestAReplacementThatTheStoreRefusesFailsItsJobAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		var tries []time.Time // of the bad one
		w.engineStore = &awkward{Store: w.store, settle: func(settlements []fairlead.Settlement) error {
			for _, s := range settlements {
				if s.Replace != nil && s.Replace.Key == `"bad"` {
					tries = append(tries, time.Now())
					return errors.New("that cannot be stored")
				}
			}
			return nil
		}}
		w.replacing()
		bad, good := replacement(`"bad"`), replacement(`"good"`)
		w.enqueue(bad, good)
		w.run(engine.Options{}, func() {
			w.wantSoon("the good replacement", good, 5*time.Second)
			if done := w.wait(bad); done.State != fairlead.Failed || done.Reason != fairlead.ReasonFatal {
				t.Errorf("the bad one is %s, reason %q", done.State, done.Reason)
			}
			if between := tries[len(tries)-1].Sub(tries[0]); len(tries) < 5 || between < 200*time.Millisecond {
				t.Errorf("it was tried %d times without a pause, within %v", len(tries), between)
			}
		})
	})
}
