package postgres

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A parked job may be in the hands of a transaction that is going to be rolled
// back. The place it was passed over for is not lost.
func TestAPlaceIsGivenToAJobThatWasLockedWhenItBecameFree(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	jobs := []*fairlead.Job{gated(t), gated(t)}
	if err := store.Enqueue(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	tx, err := connect(t, at).Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "select from fairlead_parked for update")
	}
	if err == nil {
		err = store.Cancel(t.Context(), jobs[0].ID, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, store, jobs[1], fairlead.Parked)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Promote(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	wantState(t, store, jobs[1], fairlead.Ready)
	news := 0
	if err := connect(t, at).QueryRow(t.Context(), "select count(*) from fairlead_gate_news").Scan(&news); err != nil || news != 0 {
		t.Errorf("%d news are left (%v)", news, err)
	}
}

// A job that moves on by itself while Reschedule looks for it keeps its place.
func TestReschedulingAJobThatMovedOnLeavesItItsPlace(t *testing.T) {
	l := newLimitTest(t)
	jobs := []*fairlead.Job{gated(t), gated(t)}
	l.ok(l.store.Enqueue(t.Context(), jobs))
	claim := l.begin("select from fairlead_ready for update")
	stall := l.begin("select from fairlead_admitted for update") // so that the place is given back late
	done := make(chan error)
	go func() { done <- l.store.Reschedule(t.Context(), jobs[0].ID, time.Now().Add(-time.Hour)) }()
	l.someoneWaits()
	// A run that failed, as far as the tables show.
	_, err := claim.Exec(t.Context(), `with moved as (delete from fairlead_ready where id = $1 returning *)
		insert into fairlead_later (id, not_before, lane, attempt, failures, crashes) select id, 1, lane, 1, 1, 0 from moved`, jobs[0].ID)
	l.ok(err)
	l.ok(claim.Commit(t.Context()))
	_, err = l.store.Promote(t.Context(), 10)
	l.ok(err)
	l.ok(stall.Rollback(t.Context()))
	l.ok(<-done)
	if got := l.claim(10); len(got) != 1 {
		t.Errorf("%d jobs run behind a gate of one place", len(got))
	}
}

func gated(t *testing.T) *fairlead.Job {
	return newJob(t, func(j *fairlead.Job) { j.ConcurrencyKey = "g" })
}

func wantState(t *testing.T, store *Store, job *fairlead.Job, want fairlead.State) {
	t.Helper()
	got, err := store.Get(t.Context(), job.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != want {
		t.Fatalf("the job is %s, want %s", got.State, want)
	}
}
