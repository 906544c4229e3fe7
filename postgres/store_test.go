package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/storetest"
)

// migrated is a database with the tables of a store.
var migrated = testdb.Template{Fill: func(ctx context.Context, url string) error {
	store, err := OpenWith(ctx, url, Options{SchemaOnly: true})
	if err != nil {
		return err
	}
	_, err = store.Migrate(ctx)
	return errors.Join(err, store.Close())
}}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := migrated.Drop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.Harness { return newHarness(t, migrated.Postgres(t), Options{}) })
}

// TestStoreThroughPgBouncer is the contract through a pooler in transaction
// mode that knows no prepared statements, and cannot pass notifications on, at its
// plain URL, under another schema and prefix, far from UTC, in sessions that are stricter
// than usual, with transactions of database/sql. That changes the text of each
// statement, how its values travel and what it sees, so all are checked; not how
// many can be sent, or what random ones lead to.
func TestStoreThroughPgBouncer(t *testing.T) {
	tier.Long(t, "repeats the contract through a pooler")
	const zone = "Asia/Kolkata"
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		direct := testdb.Postgres(t)
		alterDatabase(t, direct, "timezone = '"+zone+"'")
		alterDatabase(t, direct, "default_transaction_isolation = 'repeatable read'")
		pooled := testdb.PgBouncer(t, direct)
		own := withParams(t, pooled, "default_query_exec_mode", "exec") // for what is not the store's
		for setting, want := range map[string]string{"timezone": zone, "default_transaction_isolation": "repeatable read"} {
			var got string
			if err := connect(t, own).QueryRow(t.Context(), "show "+setting).Scan(&got); err != nil || got != want {
				t.Fatalf("through the pooler %s is %q, %v; want %q", setting, got, err, want)
			}
		}
		options := elsewhere
		options.ListenURL = direct
		h := newHarnessThrough(t, pooled, direct, options)
		h.Begin = func(t testing.TB, s storetest.Store) storetest.Transaction { return beginSQL(t, own, s.(*Store)) }
		return h
	}, storetest.Enqueuing, storetest.Reading, storetest.Claiming, storetest.Administering, storetest.Scheduling, storetest.Conducting,
		storetest.Sweeping, storetest.Interleaving, storetest.Planning, storetest.Texts)
}

// elsewhere needs to be quoted wherever it is used.
var elsewhere = Options{Schema: "Elsewhere", Prefix: "f2_"}

// alterDatabase gives all later sessions a setting.
func alterDatabase(t testing.TB, at, setting string) {
	t.Helper()
	_, err := connect(t, at).Exec(t.Context(), "do $$ begin execute format('alter database %I set "+strings.ReplaceAll(setting, "'", "''")+"', current_database()); end $$")
	if err != nil {
		t.Fatal(err)
	}
}

// newHarness makes a harness of an empty database, with a clock that is a
// table.
func newHarness(t *testing.T, at string, options Options) *storetest.Harness {
	t.Helper()
	return newHarnessThrough(t, at, at, options)
}

// newHarnessThrough is newHarness for stores that connect through another address.
func newHarnessThrough(t *testing.T, through, at string, options Options) *storetest.Harness {
	t.Helper()
	conn := connect(t, at)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("create table public.test_clock (us bigint not null)")
	exec("insert into public.test_clock values ($1)", time.Date(2031, 5, 6, 7, 8, 9, 123456000, time.UTC).UnixMicro())
	options = withClock(options)
	options.IdleLimit = cmp.Or(options.IdleLimit, patience.Limit) // a starved test may pause within a transaction
	steps := make(chan struct{}, 1)                               // one connection, one user at a time
	var clearing clearing
	var opened []*Store
	return &storetest.Harness{
		Open: func(t testing.TB) storetest.Store {
			store := open(t, through, options)
			steps <- struct{}{}
			defer func() { <-steps }()
			opened = append(opened, store)
			return store
		},
		Advance: func(d time.Duration) {
			steps <- struct{}{}
			defer func() { <-steps }()
			exec("update public.test_clock set us = us + $1", d.Microseconds())
			if d.Abs() > time.Minute { // which is when processes give up reserved ids
				for _, store := range opened {
					store.ids.Drop()
				}
			}
		},
		Empty: func(s storetest.Store) error {
			steps <- struct{}{}
			defer func() { <-steps }()
			defer s.(*Store).pending.Forget() // of tenants that are gone
			return clearing.run(context.WithoutCancel(t.Context()), conn)
		},
		Begin: func(t testing.TB, s storetest.Store) storetest.Transaction { return beginPgx(t, at, s.(*Store)) },
		Waiting: func() (n int) {
			steps <- struct{}{}
			defer func() { <-steps }()
			err := conn.QueryRow(context.WithoutCancel(t.Context()), "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()").Scan(&n)
			if err != nil {
				t.Error(err)
			}
			return n
		},
	}
}

// withClock lets the table be the database's clock.
func withClock(options Options) Options {
	options.Now = "(select us from public.test_clock)"
	return options
}

func open(t testing.TB, at string, options Options) *Store {
	t.Helper()
	store, err := OpenWith(t.Context(), at, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func connect(t testing.TB, at string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func beginPgx(t testing.TB, at string, s *Store) storetest.Transaction {
	t.Helper()
	tx, err := connect(t, at).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Transaction{
		Tx:       s.Tx(tx),
		Commit:   func() error { return tx.Commit(t.Context()) },
		Rollback: func() error { return tx.Rollback(t.Context()) },
	}
}

func beginSQL(t testing.TB, at string, s *Store) storetest.Transaction {
	t.Helper()
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Transaction{Tx: s.SQLTx(tx), Commit: tx.Commit, Rollback: tx.Rollback}
}

func withParams(t testing.TB, at string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// TestStoreWithMarks lets claims begin where the last one ended as soon as
// there is anything to step over, and never look at a whole lane without being
// told to. So its stores have to listen, as nodes do: they would not hear what
// another process put behind their marks. It checks what enqueues, moves and
// claims jobs: nothing else knows of marks.
func TestStoreWithMarks(t *testing.T) {
	tier.Long(t, "repeats the contract with marks in each lane")
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		h := newHarness(t, migrated.Postgres(t), Options{})
		plain := h.Open
		h.Open = func(t testing.TB) storetest.Store {
			store := plain(t).(*Store)
			store.laneCursors.after, store.laneCursors.trail, store.laneCursors.look, store.laneCursors.dear = 0, 0, time.Hour, time.Hour
			store.listener.open()
			return store
		}
		return h
	}, storetest.Enqueuing, storetest.Claiming, storetest.Contention, storetest.Modelling)
}
