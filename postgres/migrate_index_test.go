package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestSettlingGoesOnWhileAnIndexIsBuilt(t *testing.T) {
	at := testdb.Postgres(t)
	store := open(t, at, Options{})
	end := oldSnapshot(t, at) // the build has to wait for it in the middle
	newer := withIndex(t, at)
	migrated := make(chan error, 1)
	go func() { migrated <- migrate(t.Context(), newer) }()
	untilIndexing(t, at)
	for range 3 {
		enqueueAndSucceed(t, store)
	}
	select {
	case err := <-migrated:
		t.Fatalf("the index was built past a transaction: %v", err)
	default:
	}
	end()
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	wantIndex(t, at, "fairlead_more_index")
}

func TestAnIndexThatWasNotFinishedIsBuiltAgain(t *testing.T) {
	at := testdb.Postgres(t)
	open(t, at, Options{})
	end := oldSnapshot(t, at)
	newer := withIndex(t, at)
	ctx, interrupt := context.WithCancel(t.Context())
	migrated := make(chan error, 1)
	go func() { migrated <- migrate(ctx, newer) }()
	untilIndexing(t, at)
	interrupt()
	if err := <-migrated; !errors.Is(err, context.Canceled) {
		t.Fatalf("it ended with %v", err)
	}
	end()
	if status, err := newer.Schema(t.Context()); err != nil || len(status.Pending) != 1 {
		t.Fatalf("the schema is %+v, %v", status, err)
	}
	for range 2 { // the second time there is nothing to do
		if err := migrate(t.Context(), newer); err != nil {
			t.Fatal(err)
		}
		wantIndex(t, at, "fairlead_more_index")
	}
}

func TestManyProcessesBuildAnIndexOnce(t *testing.T) {
	at := testdb.Postgres(t)
	open(t, at, Options{})
	end := oldSnapshot(t, at)
	stores := []*Store{withIndex(t, at), withIndex(t, at), withIndex(t, at), withIndex(t, at)}
	var group sync.WaitGroup
	errs := make([]error, len(stores))
	for i, store := range stores {
		group.Go(func() { errs[i] = migrate(t.Context(), store) })
	}
	untilIndexing(t, at)
	end()
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	wantIndex(t, at, "fairlead_more_index")
}

// withIndex opens a store of a program that knows one more migration.
func withIndex(t *testing.T, at string) *Store {
	t.Helper()
	return withIndexOf(open(t, at, Options{}))
}

// withIndexOf lets a store know one more migration.
func withIndexOf(store *Store) *Store {
	store.migrations = append(store.migrations, sqlstore.Migration{Version: len(store.migrations) + 1, Name: "more", Steps: []string{
		"alter table fairlead_done add column more integer",
		`create index concurrently "fairlead_more_index" on fairlead_done (more)`,
		"alter table fairlead_done add column even_more integer",
	}})
	return store
}

func migrate(ctx context.Context, store *Store) error {
	_, err := store.Migrate(ctx)
	return err
}

// oldSnapshot begins a transaction that sees the database as it is now.
func oldSnapshot(t *testing.T, at string) (end func()) {
	t.Helper()
	tx, err := connect(t, at).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err == nil {
		_, err = tx.Exec(t.Context(), "select 1")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// untilIndexing waits until the build of an index waits for a transaction.
func untilIndexing(t *testing.T, at string) {
	t.Helper()
	until(t, at, "select from pg_stat_progress_create_index where datname = current_database() and phase like 'waiting for%'")
}

func wantIndex(t *testing.T, at, name string) {
	t.Helper()
	valid := false
	err := connect(t, at).QueryRow(t.Context(), "select indisvalid from pg_index where indexrelid = $1::text::regclass", name).Scan(&valid)
	if err != nil || !valid {
		t.Fatalf("index %s is valid: %v, %v", name, valid, err)
	}
}

// enqueueAndSucceed takes a job through its life.
func enqueueAndSucceed(t *testing.T, store *Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	node, err := store.Join(ctx, fairlead.Node{}, time.Hour)
	if err == nil {
		err = store.Enqueue(ctx, []*fairlead.Job{newJob(t)})
	}
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 1})
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	settled, err := store.Settle(ctx, []fairlead.Settlement{{ID: claimed[0].ID, Fence: claimed[0].Fence, Move: fairlead.Succeed}})
	if err != nil || settled[0] != fairlead.SettledAsAsked {
		t.Fatalf("settled %v, %v", settled, err)
	}
}
