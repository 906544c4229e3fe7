package testdb_test

import (
	"context"
	"database/sql"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestMain(m *testing.M) {
	beTheOwnerIfAsked()
	// A shared server must not look like a leak to packages that use one.
	goleak.VerifyTestMain(m)
}

// Databases under test and their differences.
var databases = []struct {
	name   string
	fresh  func(testing.TB) string
	start  func(context.Context, testdb.Options) (*testdb.Server, error)
	tables string // query for the number of tables in the current database
}{
	{"postgres", testdb.Postgres, testdb.StartPostgres, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"},
	{"mysql", testdb.MySQL, testdb.StartMySQL, "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()"},
}

func TestDatabaseIsFreshAndEmpty(t *testing.T) {
	for _, database := range databases {
		t.Run(database.name, func(t *testing.T) {
			first, second := database.fresh(t), database.fresh(t)
			if first == second {
				t.Fatalf("both calls returned %s", first)
			}
			mustExec(t, open(t, first), "CREATE TABLE marker (id int)")
			if got := count(t, open(t, first), database.tables); got != 1 {
				t.Errorf("the first database has %d tables after creating one", got)
			}
			if got := count(t, open(t, second), database.tables); got != 0 {
				t.Errorf("the second database has %d tables, should be empty", got)
			}
		})
	}
}

func TestDatabaseIsDroppedEvenWhileInUse(t *testing.T) {
	for _, database := range databases {
		t.Run(database.name, func(t *testing.T) {
			var dropped string
			var forgotten *sql.Tx
			outlasting := t.Context()
			t.Run("forgetful test", func(t *testing.T) {
				dropped = database.fresh(t)
				db := open(t, dropped)
				mustExec(t, db, "CREATE TABLE marker (id int)")
				var err error
				if forgotten, err = db.BeginTx(outlasting, nil); err != nil {
					t.Fatal(err)
				}
				if _, err := forgotten.ExecContext(outlasting, "INSERT INTO marker VALUES (1)"); err != nil {
					t.Fatal(err)
				}
			})
			if forgotten == nil {
				return // the inner test failed, or skipped because the server is not installed
			}
			if err := forgotten.Commit(); err == nil {
				t.Error("the transaction outlived the database")
			}
			if err := open(t, dropped).PingContext(t.Context()); err == nil {
				t.Error("the database outlived its test")
			}
		})
	}
}

func TestPgBouncerPoolsTransactions(t *testing.T) {
	direct := testdb.Postgres(t)
	pooled := testdb.PgBouncer(t, direct)
	if hostOf(t, direct) == hostOf(t, pooled) {
		t.Fatalf("%s does not go through the pooler", pooled)
	}
	config, err := pgx.ParseConfig(pooled)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // older poolers forget prepared statements
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var name string
	if err := conn.QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(strings.Split(direct, "?")[0], "/"+name) {
		t.Errorf("connected to %s instead of the database of %s", name, direct)
	}
}

func TestRedisAnswers(t *testing.T) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", testdb.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// open connects to a postgres:// or mysql:// URL.
func open(t *testing.T, rawURL string) *sql.DB {
	t.Helper()
	parsed, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Scheme == "mysql" {
		config := mysql.NewConfig()
		config.User, config.Net, config.Addr = parsed.User.Username(), "tcp", parsed.Host
		config.Passwd, _ = parsed.User.Password()
		config.Logger = &mysql.NopLogger{} // tests here end connections on purpose
		config.DBName = strings.TrimPrefix(parsed.Path, "/")
		connector, err := mysql.NewConnector(config)
		if err != nil {
			t.Fatal(err)
		}
		return closeAtCleanup(t, sql.OpenDB(connector))
	}
	db, err := sql.Open("pgx", rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return closeAtCleanup(t, db)
}

func closeAtCleanup(t *testing.T, db *sql.DB) *sql.DB {
	t.Cleanup(func() { _ = db.Close() }) // may have lost its server
	return db
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func hostOf(t *testing.T, rawURL string) string {
	t.Helper()
	parsed, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}
