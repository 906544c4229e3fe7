package postgres

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// A parked job may be in the hands of a transaction that is going to be rolled
// back. The place it was passed over for is not lost.
func TestAPlaceIsGivenToAJobThatWasLockedWhenItBecameFree(t *testing.T) {
	at := testdb.Postgres(t)
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
