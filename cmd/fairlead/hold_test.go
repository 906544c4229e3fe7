package main

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
)

// holdWorld is a database with a job that waits, a node that runs its kind, and witnesses in
// processes of their own, which know no such kind.
type holdWorld struct {
	*testing.T
	store  server.Store
	client *fairlead.Client
	args   []string
	job    *fairlead.Job
	script []scriptedCause
}

// scriptedCause is what the job waits for from some time on.
type scriptedCause struct {
	code fairlead.ObstacleCode
	// It begins after the last look before it was brought about, and not after it was seen.
	earliest, latest time.Time
}

const holdLease = 2 * time.Second

func newHoldWorld(t *testing.T, db string) *holdWorld {
	w := &holdWorld{T: t, args: []string{"--db", db, "--poll", "50ms", "--beat", "200ms", "--lease", holdLease.String()}}
	store, err := openStore(t.Context(), db)
	w.ok(err)
	t.Cleanup(func() { _ = store.Close() })
	w.store, w.client = store, fairlead.NewClient(store)
	return w
}

func (w *holdWorld) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *holdWorld) until(what string, holds func() bool) {
	w.Helper()
	for begun := time.Now(); !holds(); <-time.After(20 * time.Millisecond) {
		if time.Since(begun) > patience.Limit {
			w.Fatalf("waited in vain until %s; the job waits for %+v", what, w.history())
		}
	}
}

func (w *holdWorld) state() hold.LookState {
	w.Helper()
	state, err := w.store.HoldLook(w.Context())
	w.ok(err)
	return state
}

func (w *holdWorld) history() []hold.Stretch {
	w.Helper()
	if w.job == nil {
		return nil
	}
	history, err := w.store.History(w.Context(), w.job.ID)
	w.ok(err)
	return history.Stretches
}

// brings does something and waits until the job waits for a cause, and then for it alone.
func (w *holdWorld) brings(code fairlead.ObstacleCode, do func()) {
	w.Helper()
	step := scriptedCause{code: code, earliest: w.state().At}
	do()
	w.until("it is "+string(code), func() bool {
		looked := w.state().At
		stretches := w.history()
		if len(stretches) == 0 || !waitsFor(stretches[len(stretches)-1], code) {
			return false
		}
		// A job is in line while nothing else is known. The next look may know more of the time
		// since the last one.
		return code != fairlead.InLine || !stretches[len(stretches)-1].From.After(looked)
	})
	step.latest = w.state().Now
	w.until("it is "+string(code)+" alone", func() bool {
		stretches := w.history()
		return len(stretches[len(stretches)-1].Causes) == 1
	})
	w.script = append(w.script, step)
}

func waitsFor(s hold.Stretch, code fairlead.ObstacleCode) bool {
	return slices.ContainsFunc(s.Causes, func(o fairlead.Obstacle) bool { return o.Code == code })
}

// node runs jobs of kind k, one at a time, and of kind long until it stops. It is no witness.
func (w *holdWorld) node(k func(job *fairlead.Job)) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{MaxRunning: 1}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
		k(job)
		return nil
	}))
	mux.Handle("long", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error {
		<-ctx.Done()
		return nil
	}))
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(ctx, w.store, mux, engine.Options{
			// It is never killed, and must not lose its jobs on a busy machine: they would take
			// the start that the script saves up.
			Slots: 4, Poll: 50 * time.Millisecond, Beat: 200 * time.Millisecond, Lease: time.Minute, HoldRetention: -1,
			Logger: slog.New(slog.DiscardHandler),
		})
	}()
	return func() {
		cancel()
		w.ok(<-ended)
	}
}

func (w *holdWorld) enqueue(job *fairlead.Job) *fairlead.Job {
	w.Helper()
	w.ok(w.client.Enqueue(w.Context(), job))
	return job
}

func (w *holdWorld) limit(limit fairlead.Limit) {
	w.Helper()
	w.ok(w.client.SetLimit(w.Context(), limit))
}

func (w *holdWorld) awaitState(job *fairlead.Job, want fairlead.State) {
	w.Helper()
	w.until("a job is "+string(want), func() bool {
		got, err := w.client.Get(w.Context(), job.ID)
		w.ok(err)
		return got.State == want
	})
}

// wantScript expects that the job waited for the scripted causes, one after the other,
// without a hole, from when it was made until it started.
func (w *holdWorld) wantScript() {
	w.Helper()
	stretches := w.history()
	job, err := w.client.Get(w.Context(), w.job.ID)
	w.ok(err)
	if !stretches[0].From.Equal(job.CreatedAt) || !stretches[len(stretches)-1].Until.Equal(job.StartedAt) {
		w.Errorf("it was made at %v and started at %v; it waited %+v", job.CreatedAt, job.StartedAt, stretches)
	}
	for i, s := range stretches[1:] {
		if !s.From.Equal(stretches[i].Until) {
			w.Errorf("between %v and %v nothing is said", stretches[i].Until, s.From)
		}
	}
	at := 0
	for i, step := range w.script {
		for at < len(stretches) && !waitsFor(stretches[at], step.code) {
			at++
		}
		if at == len(stretches) {
			w.Fatalf("it did not wait for cause %d, %s: %+v", i, step.code, stretches)
		}
		if from := stretches[at].From; from.Before(step.earliest) || from.After(step.latest) {
			w.Errorf("%s began at %v, want from %v to %v", step.code, from, step.earliest, step.latest)
		}
		for i > 0 && waitsFor(stretches[at], w.script[i-1].code) { // a look saw both
			if at++; at == len(stretches) {
				w.Fatalf("cause %s did not end: %+v", w.script[i-1].code, stretches)
			}
		}
	}
	w.wantGap(stretches)
}

// wantGap expects that, for the time without a witness, only the period without a node is
// known.
func (w *holdWorld) wantGap(stretches []hold.Stretch) {
	w.Helper()
	nodes, err := w.store.Nodes(w.Context())
	w.ok(err)
	slices.SortFunc(nodes, func(a, b fairlead.Node) int { return a.JoinedAt.Compare(b.JoinedAt) })
	lost, came := nodes[0].Until, time.Time{} // when no node was left, and when the second witness came
	for i := range nodes {                    // on a busy machine a node may have joined twice
		if nodes[i].JoinedAt.After(lost) {
			came = nodes[i].JoinedAt
			break
		}
		if nodes[i].Until.After(lost) {
			lost = nodes[i].Until
		}
	}
	// A witness that comes late to a look leaves other times of which nothing is known.
	none := slices.IndexFunc(stretches, func(s hold.Stretch) bool {
		return waitsFor(s, fairlead.NoNode) && s.From.Equal(lost) && s.Until.Equal(came)
	})
	if none < 1 || none+1 >= len(stretches) || !waitsFor(stretches[none-1], hold.Unrecorded) || !waitsFor(stretches[none+1], hold.Unrecorded) {
		w.Errorf("the first witness was lost at %v, the second came at %v: %+v", lost, came, stretches)
	}
}

// A job waits for one cause after the other while the only witness is killed. The next
// witness knows the causes before, knows that no node was there, and claims to know nothing
// of the rest.
func TestTheHistoryOfAJobIsWhatHappenedThoughItsWitnessWasKilled(t *testing.T) {
	tier.Long(t, "kills a node and waits for its lease to end")
	for name, database := range demoStores {
		t.Run(name, func(t *testing.T) {
			w := newHoldWorld(t, database(t))
			ctx := t.Context()
			first := startProcess(t, w.args...)
			w.until("a node has looked", func() bool { return w.state().Version != 0 })
			stop := w.node(func(*fairlead.Job) {})
			w.awaitState(w.enqueue(&fairlead.Job{Kind: "long"}), fairlead.Running)

			w.ok(w.client.PauseKind(ctx, "k"))
			w.brings(fairlead.IsPaused, func() { w.job = w.enqueue(&fairlead.Job{Kind: "k"}) })
			w.brings(fairlead.AtCap, func() {
				w.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, MaxRunning: 1})
				w.ok(w.client.ResumeKind(ctx, "k"))
			})
			w.brings(fairlead.OverRate, func() {
				w.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 0.001, Burst: 1})
				w.awaitState(w.enqueue(&fairlead.Job{Kind: "k", Queue: "other"}), fairlead.Succeeded) // it takes the one start that is saved up
				w.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue})
			})
			w.brings(fairlead.NoNode, func() {
				first.kill()
				stop()
				w.limit(fairlead.Limit{Scope: fairlead.LimitGlobal})
			})

			earlier := w.enqueue(&fairlead.Job{Kind: "k", Priority: fairlead.High})
			release := make(chan struct{})
			startProcess(t, w.args...)
			w.brings(fairlead.InLine, func() {
				stop = w.node(func(job *fairlead.Job) {
					if job.ID == earlier.ID {
						<-release
					}
				})
			})
			close(release)
			w.awaitState(w.job, fairlead.Succeeded)
			stop()
			w.wantScript()
		})
	}
}
