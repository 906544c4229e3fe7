package postgres

import (
	"context"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// afterFirst is a runner that does something after its first round trip.
type afterFirst struct {
	runner
	do func()
}

func (a *afterFirst) run(ctx context.Context, calls ...call) error {
	defer a.do()
	return a.runner.run(ctx, calls...)
}

func TestAJobIsMovedWhoseEnqueuingCommitsWhileItIsLookedFor(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	tx, err := connect(t, at).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	job := newJob(t, func(job *fairlead.Job) { job.Queue = "old" })
	if err := store.Tx(tx).Enqueue(t.Context(), []*fairlead.Job{job}); err != nil {
		t.Fatal(err)
	}
	commit := sync.OnceFunc(func() {
		if err := tx.Commit(t.Context()); err != nil {
			t.Error(err)
		}
	})
	op := &operation{store: store, in: &afterFirst{store, commit}}
	ctx, cancel := store.withTimeout(t.Context())
	defer cancel()
	err = store.renewing(ctx, func(ctx context.Context) error {
		return op.do(ctx, job.ID, &verdict.Operation{Operation: fairlead.Operation{Op: fairlead.OpSetQueue, Queue: "new"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := store.Get(t.Context(), job.ID); err != nil || moved.Queue != "new" {
		t.Errorf("the job is %v (%v)", moved, err)
	}
}
