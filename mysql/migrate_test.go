package mysql

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// tryOut enqueues a job and closes the store.
func tryOut(t *testing.T, s *Store) {
	t.Helper()
	if err := fairlead.NewClient(s).Enqueue(context.Background(), &fairlead.Job{Kind: "a"}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// interrupted is a migration that ends with its n-th statement, before that was
// run or after it was run but not recorded.
type interrupted struct {
	migrationTarget
	left *int
	ran  bool
}

var errInterrupted = errors.New("interrupted")

func (i interrupted) Apply(ctx context.Context, migration sqlstore.Migration, step int) error {
	if *i.left--; *i.left > 0 {
		return i.migrationTarget.Apply(ctx, migration, step)
	}
	if i.ran {
		if err := i.define(ctx, migration.Steps[step]); err != nil {
			return err
		}
	}
	return errInterrupted
}

// TestMigrationGoesOnWhereItWasInterrupted interrupts one migration at each of
// its statements, first before it was run and then before it was recorded.
func TestMigrationGoesOnWhereItWasInterrupted(t *testing.T) {
	address := testdb.MySQL(t)
	s, err := open(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, migration := range s.schema {
		steps += len(migration.Steps)
	}
	for n := 1; n <= steps; n++ {
		// All before the last have been recorded: it is run again, as it was
		// left half done.
		runs := min(n, 2)
		for _, ran := range []bool{false, true} {
			left := runs
			if err := s.migrateWith(t, func(m migrationTarget) sqlstore.MigrationTarget {
				return interrupted{migrationTarget: m, left: &left, ran: ran}
			}); !errors.Is(err, errInterrupted) {
				t.Fatalf("at statement %d, ran=%v, the migration ended with %v", n, ran, err)
			}
			runs = 1
			schema, err := s.Schema(t.Context())
			if err != nil || len(schema.Pending) == 0 {
				t.Fatalf("at statement %d, ran=%v, the schema is %+v, %v", n, ran, schema, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	tryOut(t, s)
}

// migrateWith migrates through another target.
func (s *Store) migrateWith(t *testing.T, target func(migrationTarget) sqlstore.MigrationTarget) error {
	t.Helper()
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = sqlstore.MigrateUp(t.Context(), target(migrationTarget{Store: s, conn: conn, refused: &refusals{}}), s.schema)
	return err
}

// TestScriptIsAllThatMigrateDoes runs the script in a session whose settings are
// not the store's, as a client's are.
func TestScriptIsAllThatMigrateDoes(t *testing.T) {
	for _, options := range []Options{{}, {Prefix: "w_"}} {
		address, elsewhere := testdb.MySQL(t), testdb.MySQL(t)
		s := openHere(t, address, Options{Prefix: options.Prefix, SchemaOnly: true})
		conn, err := s.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"set session time_zone = '+09:00', sql_mode = 'ANSI'", s.Script()} {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		options.NoMigrate = true
		scripted := openHere(t, address, options)
		options.NoMigrate = false
		migrated := openHere(t, elsewhere, options)
		if got, want := scripted.allRecords(t), migrated.allRecords(t); !slices.Equal(got, want) {
			t.Errorf("the script records %v, want %v", got, want)
		}
		if got, want := scripted.allColumns(t), migrated.allColumns(t); !slices.Equal(got, want) {
			t.Errorf("the script makes columns %v, want %v", got, want)
		}
		if err := fairlead.NewClient(scripted).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); err != nil {
			t.Error(err)
		}
	}
}

// TestMigrationGoesOnWhereAScriptWasInterrupted ends a script after its first
// migrations, in the middle of one.
func TestMigrationGoesOnWhereAScriptWasInterrupted(t *testing.T) {
	s := openHere(t, testdb.MySQL(t), Options{SchemaOnly: true})
	half, _, _ := strings.Cut(s.Script(), s.schema[1].Steps[1])
	if _, err := s.db.ExecContext(t.Context(), half); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Schema(t.Context())
	if err != nil || schema.Current != 1 {
		t.Fatalf("after half a script the schema is %+v, %v", schema, err)
	}
	if schema, err = s.Migrate(t.Context()); err != nil || len(schema.Pending) > 0 {
		t.Fatalf("after half a script the migration ended with %+v, %v", schema, err)
	}
}

func openHere(t *testing.T, address string, options Options) *Store {
	t.Helper()
	s, err := OpenWith(t.Context(), address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// allRecords are the migrations that a database says it has, and whether it says
// that this was within the last hour.
func (s *Store) allRecords(t *testing.T) []string {
	t.Helper()
	return s.texts(t, "select concat_ws(' ', version, step, name, abs("+utcNow+" - applied_at) < 3600000000) from "+
		s.expand("migration")+" order by version, step")
}

func (s *Store) allColumns(t *testing.T) []string {
	t.Helper()
	return s.texts(t, "select concat_ws(' ', table_name, column_name, column_type, is_nullable, column_default, column_key) "+
		"from information_schema.columns where table_schema = ? order by table_name, ordinal_position", s.database)
}

func (s *Store) texts(t *testing.T, query string, args ...any) (texts []string) {
	t.Helper()
	err := each(t.Context(), s.db, func(row *sql.Rows) error {
		var text string
		err := row.Scan(&text)
		texts = append(texts, text)
		return err
	}, query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestNoMigrate(t *testing.T) {
	address := testdb.MySQL(t)
	_, err := OpenWith(t.Context(), address, Options{NoMigrate: true})
	if err == nil || !strings.Contains(err.Error(), "fairlead migrate up") {
		t.Fatalf("an empty database was answered with %v", err)
	}
	only, err := OpenWith(t.Context(), address, Options{SchemaOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer only.Close()
	if schema, err := only.Schema(t.Context()); err != nil || schema.Current != 0 || len(schema.Pending) != schema.Latest {
		t.Fatalf("the schema of an empty database is %+v, %v", schema, err)
	}
	if schema, err := only.Migrate(t.Context()); err != nil || schema.Current != schema.Latest {
		t.Fatalf("the schema after the migration is %+v, %v", schema, err)
	}
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	current, err := OpenWith(t.Context(), address, Options{NoMigrate: true})
	if err != nil {
		t.Fatal(err)
	}
	tryOut(t, current)
	if _, err := s.db.ExecContext(t.Context(), "insert into fairlead_migration values (999, 1, '0999_future', 0)"); err != nil {
		t.Fatal(err)
	}
	for _, options := range []Options{{}, {NoMigrate: true}} {
		if _, err := OpenWith(t.Context(), address, options); err == nil || !strings.Contains(err.Error(), "newer") {
			t.Fatalf("a newer schema was answered with %v", err)
		}
	}
}

// TestDefinitionStandsBack is trap 35: a change of a table that a long
// transaction uses must not make all others wait as long.
func TestDefinitionStandsBack(t *testing.T) {
	tier.Long(t, "waits for timeouts of the server")
	s, err := OpenWith(t.Context(), testdb.MySQL(t), Options{IdleLimit: patience.Limit}) // of the long transaction
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	long, err := s.lifeline.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer long.Rollback() //nolint:errcheck // it is over by then
	node, err := s.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.ExecContext(t.Context(), "update fairlead_node set idle = 1 where id = 0"); err != nil {
		t.Fatal(err)
	}
	changed := make(chan error, 1)
	go func() {
		conn, err := s.db.Conn(context.Background())
		if err == nil {
			err = migrationTarget{Store: s, conn: conn, refused: &refusals{patience: migratePatience}}.define(context.Background(), "alter table fairlead_node add column extra int")
			_ = conn.Close()
		}
		changed <- err
	}()
	// While the change waits for the transaction beats may fail. They succeed when it
	// stands back, again and again.
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	for range 2 {
		awaitChange(t, s)
		for {
			_, err := s.Beat(ctx, driver.Beat{Node: node, Lease: time.Hour})
			if err == nil {
				break
			}
			if !transient(err) {
				t.Fatal(err)
			}
		}
	}
	if err := long.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-changed; err != nil {
		t.Fatal(err)
	}
}

// awaitChange returns when a change of a table waits for a transaction that uses it.
func awaitChange(t *testing.T, s *Store) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for begin := time.Now(); time.Since(begin) < patience.Limit; <-ticker.C {
		var waits int
		err := s.db.QueryRowContext(t.Context(), "select count(*) from information_schema.processlist where db = database() and state = 'Waiting for table metadata lock' and info like 'alter%'").Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		if waits > 0 {
			return
		}
	}
	t.Fatal("no change of a table waits")
}
