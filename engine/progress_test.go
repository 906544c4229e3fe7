package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

func TestFinalProgressIsStoredHoweverTheRunEnds(t *testing.T) {
	inBubble(t, func(w *world) {
		once := fairlead.HandlerOptions{MaxAttempts: 1, Timeout: time.Minute}
		ends := map[string]func(ctx context.Context) error{
			"success": func(context.Context) error { return nil },
			"error":   func(context.Context) error { return errors.New("no") },
			"fatal":   func(context.Context) error { return fairlead.Fatal(errors.New("never")) },
			"retry":   func(context.Context) error { return fairlead.RetryAfter(time.Second, errors.New("later")) },
			"await":   func(context.Context) error { return fairlead.Await(time.Second) },
			"timeout": func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			},
			"panic": func(context.Context) error { panic("oh") },
		}
		for kind, end := range ends {
			w.handle(kind, once, func(ctx context.Context, job *fairlead.Job) error {
				if err := fairlead.FinalProgress(ctx, "as far as "+job.Kind); err != nil {
					t.Error(err)
				}
				return end(ctx)
			})
		}
		w.run(engine.Options{}, func() {
			for kind := range ends {
				job := &fairlead.Job{Kind: kind}
				w.enqueue(job)
				if done := w.wait(job); string(done.Progress) != `"as far as `+kind+`"` {
					t.Errorf("%s: ended as %s with progress %s", kind, done.State, done.Progress)
				}
			}
		})
	})
}

func TestAHandlerCanChooseTheTimeoutByTheJob(t *testing.T) {
	inBubble(t, func(w *world) {
		patient := func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			return ctx.Err()
		}
		option := func(timeoutOf func(*fairlead.Job) time.Duration) fairlead.HandlerOptions {
			return fairlead.HandlerOptions{MaxAttempts: 1, Timeout: time.Hour, TimeoutOf: timeoutOf}
		}
		w.handle("chosen", option(func(*fairlead.Job) time.Duration { return time.Second }), patient)
		w.handle("not chosen", option(func(*fairlead.Job) time.Duration { return 0 }), patient)
		w.handle("panics", option(func(*fairlead.Job) time.Duration { panic("no idea") }), patient)
		w.run(engine.Options{}, func() {
			for kind, want := range map[string]time.Duration{"chosen": time.Second, "not chosen": time.Minute, "panics": time.Minute} {
				job := &fairlead.Job{Kind: kind, Timeout: time.Minute}
				w.enqueue(job)
				done := w.wait(job)
				if took := done.FinishedAt.Sub(done.StartedAt).Round(time.Second); done.Reason != fairlead.ReasonTimeout || took != want {
					t.Errorf("%s: ended after %v with %s, want a timeout after %v", kind, took, done.Reason, want)
				}
			}
		})
	})
}
