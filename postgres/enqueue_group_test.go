package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestCallersAtOnceEachGetTheirOwnResult(t *testing.T) {
	store := open(t, migrated.Postgres(t), Options{})
	const callers = 200
	jobs, errs := make([]*fairlead.Job, callers), make([]error, callers)
	var group sync.WaitGroup
	for i := range jobs {
		jobs[i] = newJob(t)
		if i%50 == 7 {
			jobs[i].Args = json.RawMessage(`{"not": json`) // no caller should pass this to a store
		}
		group.Go(func() { errs[i] = store.Enqueue(t.Context(), jobs[i:i+1]) })
	}
	group.Wait()
	ids := map[int64]bool{}
	for i, job := range jobs {
		if bad := i%50 == 7; bad != (errs[i] != nil) || bad != (job.ID == 0) {
			t.Fatalf("caller %d got ID %d and error %v", i, job.ID, errs[i])
		}
		ids[job.ID] = true
	}
	tally, err := store.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Ready] != callers-4 || len(ids) != callers-4+1 {
		t.Fatalf("stored %v under %d IDs, %v", tally, len(ids), err)
	}
}

func TestACallerThatLeavesDoesNotStrandTheOthers(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	// Every statement waits, so that callers gather.
	if err := store.Enqueue(t.Context(), []*fairlead.Job{newJob(t)}); err != nil {
		t.Fatal(err)
	}
	tx, err := connect(t, at).Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "lock table fairlead_ready in exclusive mode")
	}
	if err != nil {
		t.Fatal(err)
	}
	const callers = 30
	errs := make([]error, callers)
	var patient, impatient sync.WaitGroup
	for i := range errs {
		job, group := newJob(t), &patient
		ctx, cancel := context.WithCancel(t.Context())
		if i%3 == 0 {
			group = &impatient
			time.AfterFunc(time.Duration(i)*5*time.Millisecond, cancel)
		}
		group.Go(func() {
			defer cancel()
			errs[i] = store.Enqueue(ctx, []*fairlead.Job{job})
			job.Trace = "it is the caller's own again"
		})
	}
	impatient.Wait()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	patient.Wait()
	for i, err := range errs {
		if i%3 != 0 && err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
		if i%3 == 0 && err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("caller %d left and got: %v", i, err)
		}
	}
	store.group.flying.Wait()
	if store.group.flights != 0 || len(store.group.waiting) != 0 {
		t.Fatalf("%d flights are left, %d wait", store.group.flights, len(store.group.waiting))
	}
}
