package fairleadtest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/fairleadtest/mysqltest"
	"github.com/fairlead-io/fairlead/fairleadtest/pgtest"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// world is what handlers change.
type world struct {
	greeted []string
	prices  map[string]string

	mu     sync.Mutex // items are handled at once
	mailed map[int64]bool
}

func (w *world) mail(index int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mailed[index] = true
}

func (w *world) mails() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.mailed)
}

// register registers a handler for each feature.
func (w *world) register(mux *fairlead.Mux, store sweep.Store) {
	w.prices, w.mailed = map[string]string{}, map[int64]bool{}
	Greet.Handle(mux, func(_ context.Context, _ *fairlead.Job, in Greeting) error {
		w.greeted = append(w.greeted, in.To)
		return nil
	})
	batch.Handle(mux, batch.Operation{TargetType: "product", BatchType: "reprice", Process: func(_ context.Context, task batch.TaskArgs) error {
		w.prices[task.Target.ID] = string(task.After)
		return nil
	}})
	items.Handle(mux, store, "mail", items.Options{}, func(_ context.Context, item items.Item[json.RawMessage]) error {
		w.mail(item.Index)
		return nil
	})
}

// tryFeatures drives each feature step by step.
func tryFeatures[S driver.Store](t *testing.T, store S, clock fairleadtest.Clock, apart bool, begin func() (fairlead.Tx, func() error)) {
	t.Helper()
	ctx, w, mux := t.Context(), &world{}, fairlead.NewMux()
	w.register(mux, store)
	node := fairleadtest.NewOn(t, store, clock, mux)

	tx, commit := begin()
	if err := node.Client.Within(tx).Enqueue(ctx, Greet.Job(Greeting{"in a transaction"})); err != nil {
		t.Fatal(err)
	}
	if apart { // otherwise its readers wait for the transaction
		fairleadtest.RequireNotEnqueued(t, node, Greet, nil)
	}
	if err := commit(); err != nil {
		t.Fatal(err)
	}
	fairleadtest.RequireEnqueued(t, node, Greet, nil)
	if job := node.Work(); job.State != fairlead.Succeeded {
		t.Errorf("the job is %s: %s", job.State, job.Error)
	}

	began := node.Now()
	_, err := node.Schedules.Put(ctx, schedule.Schedule{Name: "nightly", Cron: "0 3 * * *", Job: *Greet.Job(Greeting{"by night"})})
	if err != nil {
		t.Fatal(err)
	}
	if runs := node.RunFor(7 * 24 * time.Hour); len(runs) != 7 || !node.Now().Equal(began.Add(7*24*time.Hour)) {
		t.Errorf("in a week the schedule ran %d times, until %v", len(runs), node.Now())
	}

	b, err := node.Batches.Start(ctx, batch.Batch{Name: "sale", Type: "reprice"},
		batch.Change{Target: batch.Target{Type: "product", ID: "kite"}, Before: []byte("100"), After: []byte("80")},
		batch.Change{Target: batch.Target{Type: "product", ID: "ball"}, Before: []byte("10"), After: []byte("8")})
	if err != nil {
		t.Fatal(err)
	}
	node.Drain()
	if b, err = node.Batches.Get(ctx, b.ID); err != nil || b.State() != batch.Success || w.prices["kite"] != "80" {
		t.Errorf("the batch is %s, the price %s: %v", b.State(), w.prices["kite"], err)
	}
	if _, err := node.Batches.RollBack(ctx, b.ID, batch.RollBack{}); err != nil {
		t.Fatal(err)
	}
	node.Drain()
	if w.prices["kite"] != "100" || w.prices["ball"] != "10" {
		t.Errorf("rolled back, the prices are %v", w.prices)
	}

	s, err := node.Sweeps.Put(ctx, sweep.Sweep{Name: "mail-all", Kind: "mail", To: 250})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Sweeps.Start(ctx, s.ID, ""); err != nil {
		t.Fatal(err)
	}
	node.Drain()
	if record, err := node.Sweeps.ByID(ctx, s.ID); err != nil || record.State != sweep.Finished || w.mails() != 250 {
		t.Errorf("the sweep is %s after %d items: %v", record.State, w.mails(), err)
	}
}

func TestEachFeatureIsSteppedOnSQLite(t *testing.T) {
	store, clock := fairleadtest.SQLite(t)
	tryFeatures(t, store, clock, false, func() (fairlead.Tx, func() error) {
		tx, err := store.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return store.Tx(tx), tx.Commit
	})
}

func TestEachFeatureIsSteppedOnPostgreSQLWithTheCallersOwnTransaction(t *testing.T) {
	url := testdb.Postgres(t)
	store, clock := pgtest.Open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tryFeatures(t, store, clock, true, func() (fairlead.Tx, func() error) {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return store.Tx(tx), func() error { return tx.Commit(t.Context()) }
	})
}

func TestEachFeatureIsSteppedOnMySQLWithTheCallersOwnTransaction(t *testing.T) {
	url := testdb.MySQL(t)
	store, clock := mysqltest.Open(t, url)
	config, err := mysqlurl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := gomysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	tryFeatures(t, store, clock, true, func() (fairlead.Tx, func() error) {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return store.Tx(tx), tx.Commit
	})
}

// TestNothingIsLeftBehind checks that the tables of a test are removed.
func TestNothingIsLeftBehind(t *testing.T) {
	pg, my := testdb.Postgres(t), testdb.MySQL(t)
	t.Run("", func(t *testing.T) {
		pgtest.Open(t, pg)
		mysqltest.Open(t, my)
	})
	conn, err := pgx.Connect(t.Context(), pg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var schemas, tables int
	if err := conn.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname like 'fairleadtest%'").Scan(&schemas); err != nil {
		t.Fatal(err)
	}
	config, err := mysqlurl.Parse(my)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := gomysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "select count(*) from information_schema.tables where table_schema = database()").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if schemas+tables > 0 {
		t.Errorf("%d schemas and %d tables are left", schemas, tables)
	}
}

func TestAWholeNodeRunsInVirtualTime(t *testing.T) {
	w := &world{}
	register := func(mux *fairlead.Mux, store *sqlite.Store) { w.register(mux, store) }
	fairleadtest.Virtual(t, register, func(node *fairleadtest.VirtualNode) {
		ctx := node.T.Context()
		_, err := node.Schedules.Put(ctx, schedule.Schedule{Name: "hourly", Cron: "0 * * * *", Job: *Greet.Job(Greeting{"hourly"})})
		s, create := node.Sweeps.Put(ctx, sweep.Sweep{Name: "mail-all", Kind: "mail", To: 3600, Rate: 1})
		if err := errors.Join(err, create); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Sweeps.Start(ctx, s.ID, ""); err != nil {
			t.Fatal(err)
		}
		began := node.Now()
		node.Pass(30 * time.Minute)
		if n := w.mails(); n < 1700 || n > 1900 {
			t.Errorf("after half an hour %d items are done at one a second", n)
		}
		node.Pass(3 * time.Hour)
		if len(w.greeted) != 3 || w.mails() != 3600 {
			t.Errorf("after three hours and a half it was greeted %d times and mailed %d times", len(w.greeted), w.mails())
		}
		if passed := node.Now().Sub(began); passed != 3*time.Hour+30*time.Minute {
			t.Errorf("%v have passed", passed)
		}
	})
}

func TestRunForStopsAtEachInstant(t *testing.T) {
	store, clock := fairleadtest.SQLite(t)
	mux := fairlead.NewMux()
	var at []time.Duration
	began := clock.Now()
	Greet.Handle(mux, func(context.Context, *fairlead.Job, Greeting) error {
		at = append(at, clock.Now().Sub(began))
		return nil
	})
	node := fairleadtest.NewOn(t, store, clock, mux)
	for _, wait := range []time.Duration{90 * time.Minute, time.Hour} {
		job := Greet.Job(Greeting{"x"})
		job.NotBefore = began.Add(wait)
		if err := node.Client.Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	node.RunFor(2 * time.Hour)
	if got := fmt.Sprint(at); got != "[1h0m0s 1h30m0s]" {
		t.Errorf("they ran after %s", got)
	}
}
