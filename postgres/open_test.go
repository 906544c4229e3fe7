package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestEightProcessesMigrateAtOnce(t *testing.T) {
	at := testdb.Postgres(t)
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			store, err := Open(t.Context(), at)
			if err == nil {
				err = store.Close()
			}
			errs[i] = err
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	status, err := open(t, at, Options{NoMigrate: true}).Schema(t.Context())
	if err != nil || status.Current != status.Latest || len(status.Pending) != 0 {
		t.Fatalf("the schema is %+v, %v", status, err)
	}
}

func TestOpenWithoutMigratingSaysWhatToDo(t *testing.T) {
	_, err := OpenWith(t.Context(), testdb.Postgres(t), Options{NoMigrate: true})
	if err == nil || !strings.Contains(err.Error(), "fairlead migrate up") {
		t.Fatalf("got %v", err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	at := testdb.Postgres(t)
	open(t, at, Options{})
	exec(t, at, "insert into fairlead_migration values (4711, 0, 'tomorrow', 0)")
	_, err := Open(t.Context(), at)
	if err == nil || !strings.Contains(err.Error(), "4711") {
		t.Fatalf("got %v", err)
	}
}

func TestScriptIsAllThatMigrateDoes(t *testing.T) {
	at, elsewhere := testdb.Postgres(t), testdb.Postgres(t)
	for _, options := range []Options{{}, {Schema: "work", Prefix: "w_"}} {
		exec(t, at, open(t, elsewhere, options).Script())
		options.NoMigrate = true
		open(t, at, options)
	}
}

func TestOpenRefusesNamesThatWouldNeedQuoting(t *testing.T) {
	at := testdb.Postgres(t)
	for _, options := range []Options{{Prefix: "a-b"}, {Prefix: "1a"}, {Schema: `x"; drop`}, {Prefix: strings.Repeat("x", 41)}} {
		if _, err := OpenWith(t.Context(), at, options); err == nil {
			t.Errorf("%+v was accepted", options)
		}
	}
}

func TestStoresOfOneDatabaseAreStrangers(t *testing.T) {
	at := testdb.Postgres(t)
	one, two := open(t, at, Options{}), open(t, at, Options{Prefix: "other_", Schema: "elsewhere"})
	if err := one.Enqueue(t.Context(), []*fairlead.Job{newJob(t)}); err != nil {
		t.Fatal(err)
	}
	if tally, err := two.Tally(t.Context(), fairlead.Filter{}); err != nil || len(tally) != 0 {
		t.Fatalf("the other store has %v, %v", tally, err)
	}
	if one.limitsLock == two.limitsLock || one.notifier.channel == two.notifier.channel {
		t.Fatal("they share a lock or a channel")
	}
}

func TestTrap35MigratingBehindALongTransactionDoesNotStopBeats(t *testing.T) {
	at := testdb.Postgres(t)
	store := open(t, at, Options{})
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := connect(t, at).Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "select count(*) from fairlead_node")
	}
	if err != nil {
		t.Fatal(err)
	}
	newer := open(t, at, Options{})
	newer.migrations = append(newer.migrations, sqlstore.Migration{Version: len(newer.migrations) + 1, Name: "more", Steps: []string{"alter table fairlead_node add column more integer"}})
	migrated := make(chan error, 1)
	go func() {
		_, err := newer.Migrate(t.Context())
		migrated <- err
	}()
	// The migration waits for the transaction, and stands back for each beat. One that
	// waited behind a migration that does not would fail in the end.
	for range tier.Size(t, 1, 3, "lets the migration stand back more often") {
		untilSomeoneWaits(t, at)
		if _, err := store.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-migrated:
		t.Fatalf("it migrated past a lock: %v", err)
	default:
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	at := testdb.Postgres(t)
	ignore := goleak.IgnoreCurrent()
	store, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan struct{}, 1)
	done := make(chan error)
	go func() {
		done <- store.Listen(ctx, &driver.Scope{Kinds: []string{"test"}}, func(driver.Wake) {
			select {
			case heard <- struct{}{}:
			default:
			}
		})
	}()
	<-heard // it is connected
	cancel()
	if err := errors.Join(<-done, store.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, ignore)
}

func newJob(t testing.TB, changes ...func(*fairlead.Job)) *fairlead.Job {
	t.Helper()
	job := &fairlead.Job{Kind: "test"}
	for _, change := range changes {
		change(job)
	}
	if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
		t.Fatal(err)
	}
	return job
}

func exec(t testing.TB, at, sql string) {
	t.Helper()
	if _, err := connect(t, at).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
