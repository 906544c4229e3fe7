package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// TestTxOfTheCallersOwnHandle is transactions that SQLite calls deferred: they
// have no lock before the store's first statement.
func TestTxOfTheCallersOwnHandle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	s := open(t, file, sqlite.Options{})
	for _, setting := range []string{"", "?_txlock=immediate", "?_txlock=deferred"} {
		db, err := sql.Open("sqlite", file+setting)
		must(t, err)
		tx := begin(t, db, s)
		job := &fairlead.Job{Kind: "kind " + setting, Key: "key " + setting}
		must(t, fairlead.NewClient(s).Within(tx.Tx).Enqueue(t.Context(), job))
		must(t, tx.Commit())
		must(t, db.Close())
		found, err := s.Get(t.Context(), job.ID)
		must(t, err)
		if found.Kind != job.Kind || found.State != fairlead.Ready {
			t.Errorf("the job is %+v", found)
		}
	}
}

func TestTxInMemory(t *testing.T) {
	s := open(t, ":memory:", sqlite.Options{})
	client := fairlead.NewClient(s)
	_, err := s.DB().ExecContext(t.Context(), "create table invoice (id integer primary key)")
	must(t, err)
	for _, commits := range []bool{false, true} {
		tx, err := s.DB().BeginTx(t.Context(), nil)
		must(t, err)
		_, err = tx.ExecContext(t.Context(), "insert into invoice (id) values (7)")
		must(t, err)
		must(t, client.Within(s.Tx(tx)).Enqueue(t.Context(), &fairlead.Job{Kind: "send"}))
		if !commits {
			must(t, tx.Rollback())
			continue
		}
		must(t, tx.Commit())
	}
	tally, err := s.Tally(t.Context(), fairlead.Filter{})
	must(t, err)
	if tally[fairlead.Ready] != 1 {
		t.Errorf("the tally is %v", tally)
	}
}

// TestARefusalLeavesTheCallersTransactionAsItWas: all jobs of a call or none.
func TestARefusalLeavesTheCallersTransactionAsItWas(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "jobs.db"), sqlite.Options{})
	client := fairlead.NewClient(s)
	tx := begin(t, s.DB(), s)
	within := client.Within(tx.Tx)
	must(t, within.Enqueue(t.Context(), &fairlead.Job{Kind: "first", Key: "k"}))
	err := within.Enqueue(t.Context(), &fairlead.Job{Kind: "second"}, &fairlead.Job{Kind: "third", Key: "k"})
	if !errors.Is(err, fairlead.ErrConflict) {
		t.Fatalf("a taken key is answered with %v", err)
	}
	must(t, within.Enqueue(t.Context(), &fairlead.Job{Kind: "last"}))
	must(t, tx.Commit())
	tally, err := s.Tally(t.Context(), fairlead.Filter{})
	must(t, err)
	if tally[fairlead.Ready] != 2 {
		t.Errorf("the tally is %v", tally)
	}
}

// TestARolledBackLaneIsForgotten: its number goes to another lane.
func TestARolledBackLaneIsForgotten(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "jobs.db"), sqlite.Options{})
	client := fairlead.NewClient(s)
	tx := begin(t, s.DB(), s)
	must(t, client.Within(tx.Tx).Enqueue(t.Context(), &fairlead.Job{Kind: "undone"}))
	must(t, tx.Rollback())
	for _, kind := range []string{"other", "undone"} {
		job := &fairlead.Job{Kind: kind}
		must(t, client.Enqueue(t.Context(), job))
		found, err := s.Get(t.Context(), job.ID)
		must(t, err)
		if found.Kind != kind {
			t.Errorf("a job of kind %q is found as %q", kind, found.Kind)
		}
	}
}

// A database in memory has no readers that look for new lanes.
func TestAKindThatACallersTransactionWasTheFirstToUseIsFoundInMemory(t *testing.T) {
	ctx, store := t.Context(), open(t, "sqlite://:memory:", sqlite.Options{})
	for i, commit := range []bool{false, true} {
		tx, err := store.DB().BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		jobs := []*fairlead.Job{{Kind: "new"}}
		if err := errors.Join(fairlead.NormalizeJobs(jobs), store.Tx(tx).Enqueue(ctx, jobs)); err != nil {
			t.Fatal(err)
		}
		end := tx.Rollback
		if commit {
			end = tx.Commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		found, err := store.Find(ctx, fairlead.Filter{Kinds: []string{"new"}})
		if err != nil || len(found) != i {
			t.Errorf("%d jobs are found, want %d: %v", len(found), i, err)
		}
	}
}
