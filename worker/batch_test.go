package worker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/server"
)

// The node of the server never polls in this test: it releases tasks only because it hears of
// those that ended on the worker.
func TestTasksThatEndOnWorkersMakeRoomAtOnce(t *testing.T) {
	const tasks, atOnce = 100, 8
	everystore.Run(t, func(t *testing.T, store server.Store) {
		w := newWorldWith(t, store, time.Minute, 2*patience.Limit)
		mux := fairlead.NewMux()
		batch.Handle(mux, batch.Operation{TargetType: "host", BatchType: "greet", Process: func(context.Context, batch.TaskArgs) error { return nil }})
		w.start(mux, nil)
		w.untilJoined(2)
		changes := make([]batch.Change, tasks)
		for i := range changes {
			changes[i].Target = batch.Target{Type: "host", ID: fmt.Sprint(i)}
		}
		batches := batch.NewClient(store)
		b, err := batches.Start(t.Context(), batch.Batch{Name: "greetings", Type: "greet", MaxRunning: atOnce}, changes...)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		var before fairlead.Job
		before.Batch = b.ID
		w.node.Ended(&before) // it looks at the batch for the first time
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
		defer cancel()
		if b, err = batches.Wait(ctx, b.ID); err != nil || b.Tally.Success != tasks {
			t.Fatalf("%d of %d tasks have succeeded: %v", b.Tally.Success, tasks, err)
		}
		t.Logf("%d tasks, %d at once, took %v", tasks, atOnce, time.Since(begun).Round(time.Millisecond))
	})
}

// untilJoined waits until there are as many nodes and workers.
func (w *world) untilJoined(n int) {
	w.Helper()
	for begun := time.Now(); time.Since(begun) < patience.Limit; <-time.After(10 * time.Millisecond) {
		if nodes, err := w.store.Nodes(w.Context()); err == nil && len(nodes) == n {
			return
		}
	}
	w.Fatalf("there are not %d nodes and workers", n)
}
