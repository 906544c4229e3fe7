package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// poolAt returns a pool as a program would make it.
func poolAt(t *testing.T, url string, change func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestAStoreUsesThePoolOfTheProgramAndLeavesItOpen(t *testing.T) {
	pool := poolAt(t, migrated.Postgres(t), func(config *pgxpool.Config) { config.MaxConns = 3 })
	store, err := New(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	acquired := pool.Stat().AcquireCount()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	job := &fairlead.Job{Kind: "receipt"}
	if err := fairlead.NewClient(store).Within(store.Tx(tx)).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Get(t.Context(), job.ID); err != nil || got.State != fairlead.Ready {
		t.Errorf("got %+v: %v", got, err)
	}
	if pool.Stat().AcquireCount() < acquired+2 {
		t.Error("the store did not use the pool")
	}
	if store.listener.at == nil {
		t.Error("the store does not listen")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := pool.Ping(t.Context()); err != nil {
		t.Errorf("the pool was closed with the store: %v", err)
	}
	if in := pool.Stat().AcquiredConns(); in != 0 {
		t.Errorf("the store kept %d connections", in)
	}
}

func TestAPoolThatDoesNotSuitIsRefused(t *testing.T) {
	direct := testdb.Postgres(t)
	pooled := testdb.PgBouncer(t, direct)
	mode := func(mode pgx.QueryExecMode) func(*pgxpool.Config) {
		return func(config *pgxpool.Config) { config.ConnConfig.DefaultQueryExecMode = mode }
	}
	for want, pool := range map[string]*pgxpool.Pool{
		"the pool is nil":   nil,
		"simple_protocol":   poolAt(t, direct, mode(pgx.QueryExecModeSimpleProtocol)),
		"connection pooler": poolAt(t, pooled, nil),
	} {
		if store, err := New(t.Context(), pool); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", want, store, err)
		}
	}
	store, err := New(t.Context(), poolAt(t, pooled, mode(pgx.QueryExecModeExec)))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Enqueue(t.Context(), []*fairlead.Job{{Kind: "receipt"}}); err != nil {
		t.Error(err)
	}
}

// Each transaction holds a connection, and its first job needs an ID, a lane and the limits
// of pending jobs, which are read outside of the transaction.
func TestTransactionsThatHoldAllConnectionsOfThePoolCanEnqueue(t *testing.T) {
	const conns = 2
	pool := poolAt(t, migrated.Postgres(t), func(config *pgxpool.Config) { config.MaxConns = conns })
	store, err := New(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.PutTenant(t.Context(), fairlead.Tenant{Name: "acme", MaxPending: 10}); err != nil {
		t.Fatal(err)
	}
	var txs []pgx.Tx
	for range conns {
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // if the test fails
		txs = append(txs, tx)
	}
	stuck := make(chan error, 1)
	go func() { stuck <- store.Enqueue(t.Context(), []*fairlead.Job{{Kind: "outside", Tenant: "acme"}}) }()
	for i, tx := range txs {
		within := fairlead.NewClient(store).Within(store.Tx(tx))
		if err := within.Enqueue(t.Context(), &fairlead.Job{Kind: "receipt", Tenant: "acme", Queue: "q" + strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-stuck; err != nil {
		t.Error(err)
	}
	tally, err := store.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Ready] != conns+1 {
		t.Errorf("got %v: %v", tally, err)
	}
}
