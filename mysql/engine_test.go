package mysql

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestForeignEnginesAreRefusedWithReasonAndRemedy(t *testing.T) {
	for _, c := range []struct {
		version, comment string
		want             []string // of the error; none: it is accepted
	}{
		{"8.0.11-TiDB-v8.1.1", "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible", []string{"TiDB", "SKIP LOCKED", "use MySQL"}},
		{"5.7.25-TiDB-v6.1.0", "TiDB Server (Apache License 2.0) Community Edition, MySQL 5.7 compatible", []string{"TiDB", "SKIP LOCKED", "use MySQL"}},
		{"8.0.30-Vitess", "Version: 19.0.0 (Git revision e4ba1f2 branch 'main') built on Mon Mar  4 2024", []string{"Vitess", "SKIP LOCKED", "use MySQL"}},
		{"8.0.23-vitess", "", []string{"Vitess", "SKIP LOCKED", "use MySQL"}},
		{"8.0.34", "PlanetScale", []string{"PlanetScale", "SKIP LOCKED", "use MySQL"}},
		{"5.7.44-log", "MySQL Community Server (GPL)", []string{"too old", "5.7.44", "8.0.13"}},
		{"8.0.12", "MySQL Community Server - GPL", []string{"too old", "8.0.12", "8.0.13"}},
		{"10.5.29-MariaDB-0+deb11u1", "Debian 11", []string{"too old", "10.5.29", "10.6"}},
		{"5.5.5-10.3.39-MariaDB", "mariadb.org binary distribution", []string{"too old", "10.3.39", "10.6"}},
		{"8.0.13", "MySQL Community Server - GPL", nil},
		{"8.0.36", "Source distribution", nil},
		{"8.4.3-3", "Percona Server (GPL), Release 3, Revision 12345678", nil},
		{"9.1.0", "MySQL Community Server - GPL", nil},
		{"10.6.0-MariaDB", "mariadb.org binary distribution", nil},
		{"10.11.14-MariaDB-0+deb12u2-log", "Debian 12", nil},
		{"5.5.5-10.11.6-MariaDB", "mariadb.org binary distribution", nil},
		{"11.4.2-MariaDB-ubu2404", "mariadb.org binary distribution", nil},
		{"a version of a fork", "", nil},
	} {
		err := foreignEngine(c.version, c.comment)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.version, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", c.version, err, want)
			}
		}
	}
}

// The server of the tests is asked by a store, which then knows it.
func TestTheServerOfTheTestsIsNotForeign(t *testing.T) {
	store, err := Open(t.Context(), testdb.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if !store.engine.met.Load() {
		t.Error("the server was not asked what it is")
	}
	var version, comment string
	if err := store.db.QueryRowContext(t.Context(), store.sql.Engine).Scan(&version, &comment); err != nil {
		t.Fatal(err)
	}
	if _, ok := versionNumbers(version); !ok || comment == "" {
		t.Errorf("the server answers %q, %q", version, comment)
	}
}

// The store's question is replaced by one that TiDB would answer like this.
func TestOpenRefusesAForeignEngine(t *testing.T) {
	at := testdb.MySQL(t)
	s, err := open(at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.engine.question = "select '8.0.11-TiDB-v8.1.1', 'TiDB Server'"
	err = unavailable(t.Context(), s.start(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "which Fairlead does not support") || errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("%v: a start must fail, and not be tried again", err)
	}
	if _, err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "which Fairlead does not support") {
		t.Error(err)
	}
	config, err := mysqlurl.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables int
	if err := db.QueryRowContext(t.Context(), "select count(*) from information_schema.tables where table_schema = database()").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were created: %v", tables, err)
	}
}
