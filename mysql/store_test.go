package mysql_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := mysql.Migrated.Drop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		return newHarness(t, mysql.Migrated.MySQL(t), mysql.Options{}, nil)
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
	options.IdleLimit = cmp.Or(options.IdleLimit, patience.Limit) // a starved test may pause within a transaction
	var mu sync.Mutex
	var opened []*mysql.Store
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
			mu.Lock()
			defer mu.Unlock()
			opened = append(opened, store)
			return store
		},
		Advance: func(d time.Duration) {
			mustExec(t, clock, "update test_clock set us = us + ?", d.Microseconds())
			mu.Lock()
			defer mu.Unlock()
			if d.Abs() > time.Minute { // which is when processes give up reserved ids
				for _, store := range opened {
					store.DropIDs()
				}
			}
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
		Waiting: func() int {
			n, err := waiting(clock)
			if err != nil {
				t.Error(err)
			}
			return n
		},
	}
}

// lockWait finds the connections that wait for a row lock in the status of InnoDB.
var lockWait = regexp.MustCompile(`(?m)^LOCK WAIT .*\n\w+ thread id (\d+),`)

// waiting counts the statements on the database that wait for a row lock. It reads the
// status of InnoDB: information_schema.innodb_trx is as old as a tenth of a second, or
// older if it is asked often. Other databases of the server are in use by other tests.
func waiting(db *sql.DB) (n int, err error) {
	var kind, name, status string
	if err := db.QueryRowContext(context.Background(), "show engine innodb status").Scan(&kind, &name, &status); err != nil {
		return 0, err
	}
	ids := []string{"0"}
	for _, found := range lockWait.FindAllStringSubmatch(status, -1) {
		ids = append(ids, found[1])
	}
	query := "select count(*) from information_schema.processlist where db = database() and id in (" + strings.Join(ids, ", ") + ")"
	err = db.QueryRowContext(context.Background(), query).Scan(&n)
	return n, err
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
		n, err := waiting(db)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
		select {
		case err := <-returned:
			t.Fatalf("the call did not wait, it returned %v", err)
		case <-time.After(5 * time.Millisecond):
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
