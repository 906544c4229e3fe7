package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// heard collects what listeners are told.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// listener is told everything, under a name.
func (h *heard) listener(name, kind, tenant string) engine.Listener {
	return engine.Listener{
		Kind: kind, Tenant: tenant,
		OnStart: func(_ context.Context, job *fairlead.Job) { h.add("%s: %s of %s starts", name, job.Kind, job.Tenant) },
		OnTimeout: func(_ context.Context, job *fairlead.Job) {
			h.add("%s: %s of %s timed out", name, job.Kind, job.Tenant)
		},
		OnFailed: func(_ context.Context, job *fairlead.Job, err error) {
			h.add("%s: %s of %s failed: %v", name, job.Kind, job.Tenant, err)
		},
	}
}

func TestListenersAreToldOfTheirKindAndTenant(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("good", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.handle("bad", fairlead.HandlerOptions{MaxAttempts: 1}, func(context.Context, *fairlead.Job) error { return errors.New("no") })
		w.handle("slow", fairlead.HandlerOptions{MaxAttempts: 1, Timeout: time.Second}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		var h heard
		log := &lines{}
		options := engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}
		options.Listeners = []engine.Listener{h.listener("all", "", ""), {}, h.listener("bad", "bad", ""), h.listener("acme", "", "acme")} // one has no functions
		w.run(options, func() {
			for _, job := range []*fairlead.Job{{Kind: "good", Tenant: "acme"}, {Kind: "bad"}, {Kind: "slow", Tenant: "acme"}} {
				w.enqueue(job)
				w.wait(job)
				pass(time.Second)
			}
		})
		want := []string{
			"acme: good of acme starts", "acme: slow of acme failed: context deadline exceeded", "acme: slow of acme starts", "acme: slow of acme timed out",
			"all: bad of default failed: no", "all: bad of default starts", "all: good of acme starts",
			"all: slow of acme failed: context deadline exceeded", "all: slow of acme starts", "all: slow of acme timed out",
			"bad: bad of default failed: no", "bad: bad of default starts",
		}
		slices.Sort(h.lines)
		if !slices.Equal(h.lines, want) {
			t.Errorf("told %q, want %q", h.lines, want)
		}
		if found := log.with(t, "listener panicked"); len(found) > 0 {
			t.Errorf("the log says %v", found)
		}
	})
}

func TestAListenerThatPanicsOrHangsAffectsNoJob(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		var h, late heard
		log := &lines{}
		listeners := []engine.Listener{
			{OnStart: func(context.Context, *fairlead.Job) { panic("oops") }},
			{OnStart: func(_ context.Context, job *fairlead.Job) {
				<-release
				late.add("%d", job.ID)
			}},
			h.listener("quiet", "", ""),
		}
		const jobs = 3000
		w.run(engine.Options{Listeners: listeners, Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			batch := make([]*fairlead.Job, jobs)
			for i := range batch {
				batch[i] = &fairlead.Job{Kind: "k"}
			}
			w.enqueue(batch...)
			for _, job := range batch {
				if done := w.wait(job); done.State != fairlead.Succeeded {
					t.Fatalf("job %d is %s", done.ID, done.State)
				}
			}
		})
		if len(h.lines) == 0 {
			t.Error("the third listener was told nothing")
		}
		close(release)
		pass(time.Second)
		// It misses what it was too slow for.
		if n := len(late.lines); n == 0 || n > jobs/2 || len(log.with(t, "too slow")) != 1 {
			t.Errorf("the second was told of %d jobs; the log says so %d times", n, len(log.with(t, "too slow")))
		}
	})
}
