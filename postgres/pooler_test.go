package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestNothingListensThroughAPooler(t *testing.T) {
	direct := testdb.Postgres(t)
	pooled := testdb.PgBouncer(t, direct)
	for _, options := range []Options{{}, {ListenURL: noListening}} {
		store := open(t, pooled, options)
		if !store.pooled || store.listener.at != nil {
			t.Errorf("%+v: pooled %v, listens %v", options, store.pooled, store.listener.at != nil)
		}
	}
	store := open(t, pooled, Options{ListenURL: direct})
	if store.listener.at == nil || store.listener.at.ConnString() != direct {
		t.Errorf("listens at %v", store.listener.at)
	}
	if store := open(t, direct, Options{}); store.pooled || store.listener.at == nil || store.listener.at.ConnString() != direct {
		t.Errorf("without a pooler: pooled %v, listens at %v", store.pooled, store.listener.at)
	}
	var err error
	if store.listener.at, err = parseURL(pooled); err != nil { // as if the pooler had come between later
		t.Fatal(err)
	}
	if conn, err := store.listener.connect(t.Context()); err == nil || !strings.Contains(err.Error(), "pooler") {
		t.Errorf("it listens through the pooler: %v, %v", conn, err)
	}
	if _, err := OpenWith(t.Context(), pooled, Options{ListenURL: pooled}); err == nil || !strings.Contains(err.Error(), "use the server's own URL") {
		t.Errorf("got %v", err)
	}
}

// With a URL to listen at, a process hears through the pooler's back what another
// stored.
func TestWakesGoPastAPooler(t *testing.T) {
	direct := testdb.Postgres(t)
	pooled := testdb.PgBouncer(t, direct)
	one, two := open(t, pooled, Options{ListenURL: direct}), open(t, pooled, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := make(chan driver.Wake, 100)
	listening := make(chan error, 1)
	go func() {
		listening <- one.Listen(ctx, &driver.Scope{Kinds: []string{"test"}}, func(w driver.Wake) {
			select {
			case heard <- w:
			default:
			}
		})
	}()
	<-heard // it is connected
	for len(heard) > 0 {
		<-heard
	}
	if err := two.Enqueue(t.Context(), []*fairlead.Job{newJob(t)}); err != nil {
		t.Fatal(err)
	}
	<-heard
	cancel()
	if err := <-listening; err != nil {
		t.Fatal(err)
	}
}

// What a pooler's sessions keep would reach others.
func TestSessionsOfAPoolerAreLeftAsTheyWere(t *testing.T) {
	direct := testdb.Postgres(t)
	store := open(t, testdb.PgBouncer(t, direct), Options{})
	newer := withIndexOf(store)
	if err := migrate(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	enqueueAndSucceed(t, store)
	if _, err := store.Prune(t.Context(), driver.Retention{Succeeded: time.Microsecond}, 10); err != nil {
		t.Fatal(err)
	}
	for range 20 { // whichever session it is
		var prepared, settings int
		err := store.pool.QueryRow(t.Context(), "select (select count(*) from pg_prepared_statements), (select count(*) from pg_settings where source = 'session' and name not in ('client_encoding', 'TimeZone', 'DateStyle', 'application_name', 'standard_conforming_strings'))").Scan(&prepared, &settings)
		if err != nil || prepared != 0 || settings != 0 {
			t.Fatalf("a session has %d prepared statements and %d settings, %v", prepared, settings, err)
		}
	}
}

func TestAParameterThatAPoolerRefusesIsExplained(t *testing.T) {
	pooled := testdb.PgBouncer(t, testdb.Postgres(t))
	_, err := Open(t.Context(), withParams(t, pooled, "search_path", "jobs"))
	if err == nil || !strings.Contains(err.Error(), "search_path") || !strings.Contains(err.Error(), "alter role") {
		t.Fatalf("got %v", err)
	}
}
