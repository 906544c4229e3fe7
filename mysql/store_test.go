package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		return newHarness(t, testdb.MySQL(t), mysql.Options{}, nil)
	})
}

// rawDB is a database handle of a caller, with session settings of its own.
func rawDB(t testing.TB, address string, settings map[string]string) *sql.DB {
	t.Helper()
	config := rawConfig(t, address)
	config.Params = settings
	return openRaw(t, config)
}

func rawConfig(t testing.TB, address string) *gomysql.Config {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	config := gomysql.NewConfig()
	config.Net, config.Addr, config.User, config.DBName = "tcp", parsed.Host, parsed.User.Username(), strings.TrimPrefix(parsed.Path, "/")
	config.Passwd, _ = parsed.User.Password()
	return config
}

func openRaw(t testing.TB, config *gomysql.Config) *sql.DB {
	t.Helper()
	connector, err := gomysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// newHarness makes a database whose clock stands still. Callers' transactions
// have the given session settings.
func newHarness(t *testing.T, address string, options mysql.Options, settings map[string]string) *storetest.Harness {
	t.Helper()
	caller, clock := rawDB(t, address, settings), rawDB(t, address, map[string]string{"autocommit": "1"})
	mustExec(t, clock, "create table test_clock (us bigint not null) engine = InnoDB")
	mustExec(t, clock, "insert into test_clock values (?)", time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC).UnixMicro())
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	options.Now = "(select us from `" + strings.TrimPrefix(parsed.Path, "/") + "`.test_clock)"
	return &storetest.Harness{
		Open: func(t testing.TB) storetest.Store {
			t.Helper()
			store, err := mysql.OpenWith(context.Background(), address, options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			return store
		},
		Advance: func(d time.Duration) {
			mustExec(t, clock, "update test_clock set us = us + ?", d.Microseconds())
		},
		Empty: emptier(t, address),
		Begin: func(t testing.TB, s storetest.Store) storetest.Transaction {
			t.Helper()
			tx, err := caller.BeginTx(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tx.Rollback() })
			return storetest.Transaction{Tx: s.(*mysql.Store).Tx(tx), Commit: tx.Commit, Rollback: tx.Rollback}
		},
		Waiting: func() (n int) {
			<-time.After(150 * time.Millisecond) // the server refreshes its answer only if it was not asked for 100ms
			err := clock.QueryRowContext(context.Background(), `select count(*) from information_schema.innodb_trx t
				join information_schema.processlist p on p.id = t.trx_mysql_thread_id
				where t.trx_state = 'LOCK WAIT' and p.db = database()`).Scan(&n)
			if err != nil {
				t.Error(err)
			}
			return n
		},
	}
}

func mustExecTx(t testing.TB, tx *sql.Tx, statement string) {
	t.Helper()
	if _, err := tx.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// awaitLockWait returns once a call waits for a row lock of the database. It fails if the
// call returns instead.
func awaitLockWait(t testing.TB, address string, returned <-chan error) {
	t.Helper()
	db := rawDB(t, address, nil)
	for begin := time.Now(); time.Since(begin) < patience.Limit; {
		var waiting int
		err := db.QueryRowContext(context.Background(), `select count(*) from information_schema.innodb_trx t
			join information_schema.processlist p on p.id = t.trx_mysql_thread_id
			where t.trx_state = 'LOCK WAIT' and p.db = database()`).Scan(&waiting) // other databases of the server are in use by other tests
		if err != nil {
			t.Fatal(err)
		}
		if waiting > 0 {
			return
		}
		select {
		case err := <-returned:
			t.Fatalf("the call did not wait, it returned %v", err)
		case <-time.After(150 * time.Millisecond): // the server refreshes its answer only if it was not asked for 100ms
		}
	}
	t.Fatal("no statement waits")
}

// deadlocks is how many deadlocks the server has seen.
func deadlocks(t testing.TB, address string) int {
	t.Helper()
	var name string
	var n int
	err := rawDB(t, address, nil).QueryRowContext(context.Background(), "show global status like 'Innodb_deadlocks'").Scan(&name, &n)
	if errors.Is(err, sql.ErrNoRows) {
		t.Skip("this server does not count deadlocks")
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
