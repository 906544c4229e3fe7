package engine_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// bare is a store without all that a source need not have.
type bare struct{ engine.Source }

func TestANodeThatHasOnlyASourceOfJobsLeavesTheHousekeepingToOthers(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		node, err := engine.New(bare{w.store}, w.mux, engine.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan error, 1)
		go func() { ended <- node.Run(ctx) }()
		job, later := &fairlead.Job{Kind: "k"}, &fairlead.Job{Kind: "k", NotBefore: time.Now().Add(time.Minute)}
		w.enqueue(job, later)
		w.wantSoon("the job", job, time.Minute)
		pass(5 * time.Minute)
		w.want("a job that none has promoted", later, fairlead.Scheduled)
		if err := w.store.Leave(w.t.Context(), node.Stats().Node); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(time.Minute)
		again := &fairlead.Job{Kind: "k"}
		w.enqueue(again)
		w.wantSoon("the job of its next life", again, time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
