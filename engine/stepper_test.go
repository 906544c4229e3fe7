package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

func TestAStepperRunsOneReadyJobAtATime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("fine", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error { return fairlead.SetOutput(ctx, 1) })
		w.handle("slow", fairlead.HandlerOptions{Timeout: time.Second, MaxAttempts: 1}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		w.handle("bad", fairlead.HandlerOptions{MaxAttempts: 1}, func(context.Context, *fairlead.Job) error { panic("oh") })
		stepper, err := engine.NewStepper(w.t.Context(), w.store, w.mux)
		if err != nil {
			t.Fatal(err)
		}
		step := func() *fairlead.Job {
			t.Helper()
			job, err := stepper.Step(w.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return job
		}
		if job := step(); job != nil {
			t.Errorf("there is nothing, and yet it ran %+v", job)
		}
		later := time.Now().Add(time.Hour)
		jobs := []*fairlead.Job{{Kind: "fine"}, {Kind: "slow"}, {Kind: "bad"}, {Kind: "fine", NotBefore: later}}
		w.enqueue(jobs...)
		for i, want := range []struct {
			state  fairlead.State
			reason fairlead.Reason
		}{{fairlead.Succeeded, ""}, {fairlead.Failed, fairlead.ReasonTimeout}, {fairlead.Failed, fairlead.ReasonPanic}} {
			if job := step(); job == nil || job.ID != jobs[i].ID || job.State != want.state || job.Reason != want.reason {
				t.Errorf("step %d: %+v", i, job)
			}
		}
		if job := step(); job != nil {
			t.Errorf("nothing is ready, and yet it ran %+v", job)
		}
		pass(time.Hour)
		if job := step(); job == nil || job.ID != jobs[3].ID || string(job.Output) != "1" {
			t.Errorf("when it is due: %+v", job)
		}
		ended, cancel := context.WithCancel(w.t.Context())
		cancel()
		if _, err := stepper.Step(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	})
}
