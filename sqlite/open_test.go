package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sqlite"
)

func TestOpenUnderstandsURLsAndPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("dir", 0o755))
	absolute, questionable := filepath.Join(t.TempDir(), "odd #%3F näme.db"), filepath.Join(t.TempDir(), "odd ?#% näme.db")
	for url, file := range map[string]string{
		"sqlite://dir/relative.db": "dir/relative.db",
		"sqlite://" + absolute:     absolute,
		questionable:               questionable,
		"plain.db":                 "plain.db",
		"sqlite://:memory:":        "",
		":memory:":                 "",
	} {
		s := open(t, url, sqlite.Options{})
		must(t, fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}))
		if _, err := os.Stat(file); file != "" && err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if files, _ := filepath.Glob("*memory*"); len(files) > 0 {
		t.Errorf("memory has become %v", files)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		url     string
		options sqlite.Options
	}{
		"does not name a file":                    {"sqlite://", sqlite.Options{}},
		"no parameters":                           {"sqlite://" + filepath.Join(t.TempDir(), "x.db") + "?key=s3cret", sqlite.Options{}},
		"unable to open":                          {filepath.Join(t.TempDir(), "missing", "x.db"), sqlite.Options{}},
		"the path is a directory":                 {t.TempDir(), sqlite.Options{}},
		"missing does not exist; create it first": {filepath.Join(t.TempDir(), "missing", "x.db"), sqlite.Options{}},
		"not a database":                          {notADatabase(t), sqlite.Options{}},
		"prefix":                                  {":memory:", sqlite.Options{Prefix: `x"; drop`}},
		"synchronous":                             {":memory:", sqlite.Options{Synchronous: "sometimes"}},
		"run fairlead migr":                       {filepath.Join(t.TempDir(), "x.db"), sqlite.Options{NoMigrate: true}},
	} {
		s, err := sqlite.OpenWith(t.Context(), c.url, c.options)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("open %s with %+v: %v, want %q", c.url, c.options, err, name)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("it shows the secret: %v", err)
		}
	}
}

func notADatabase(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "text.db")
	must(t, os.WriteFile(file, []byte(strings.Repeat("this is no database. ", 1000)), 0o644))
	return file
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := sqlite.Open(t.Context(), file)
			if err != nil {
				t.Error(err)
				return
			}
			err = fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "k"})
			if err := errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	tally, err := open(t, file, sqlite.Options{NoMigrate: true}).Tally(t.Context(), fairlead.Filter{})
	must(t, err)
	if tally[fairlead.Ready] != 8 {
		t.Errorf("the tally is %v", tally)
	}
}

func TestMigrateOnceAndRefuseWhatIsNewer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	s := open(t, file, sqlite.Options{})
	for _, ask := range []func(context.Context) (driver.Schema, error){s.Schema, s.Migrate, s.Schema} {
		schema, err := ask(t.Context())
		must(t, err)
		if schema.Current != schema.Latest || schema.Latest < 1 || len(schema.Pending) > 0 {
			t.Errorf("the schema is %+v", schema)
		}
	}
	_, err := s.DB().ExecContext(t.Context(), "insert into fairlead_migration (version, step, name, applied_at) values (99, 0, 'future', 0)")
	must(t, err)
	if _, err := sqlite.Open(t.Context(), file); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("a newer schema is answered with %v", err)
	}
}

func TestTheScriptMakesTheSameTables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	db, err := sql.Open("sqlite", file)
	must(t, err)
	_, err = db.ExecContext(t.Context(), open(t, ":memory:", sqlite.Options{Prefix: "mine_"}).Script())
	must(t, err)
	must(t, db.Close())
	s := open(t, file, sqlite.Options{Prefix: "mine_", NoMigrate: true})
	must(t, fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}))
}

func TestPrefixesKeepStoresApart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	one, two := open(t, file, sqlite.Options{Prefix: "one_"}), open(t, file, sqlite.Options{Prefix: "two_"})
	must(t, fairlead.NewClient(one).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}))
	tally, err := two.Tally(t.Context(), fairlead.Filter{})
	must(t, err)
	if len(tally) != 0 {
		t.Errorf("the tally is %v", tally)
	}
}

func TestCallsEndWithTheirTime(t *testing.T) {
	tier.Long(t, "waits for a timeout of the store")
	file := filepath.Join(t.TempDir(), "jobs.db")
	open(t, file, sqlite.Options{})
	s := open(t, file, sqlite.Options{QueryTimeout: time.Second})
	tx, err := s.DB().BeginTx(t.Context(), nil) // locks out all other writers
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	err = s.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"})
	if !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(fmt.Sprint(err), "write lock") {
		t.Errorf("a call that waits for the lock ends with %v", err)
	}
	must(t, tx.Rollback())
	must(t, s.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"}))
}
