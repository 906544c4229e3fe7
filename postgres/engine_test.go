package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestForeignEnginesAreRefusedWithReasonAndRemedy(t *testing.T) {
	for banner, c := range map[string]struct {
		version int
		want    []string // of the error; none: it is accepted
	}{
		"CockroachDB CCL v20.1.15 (x86_64-unknown-linux-gnu, built 2021/04/26 16:11:58, go1.13.9)": {90500, []string{"CockroachDB", "advisory locks", "use PostgreSQL 13"}},
		"CockroachDB CCL v24.3.5 (x86_64-pc-linux-gnu, built 2025/02/03 17:28:15, go1.22.8)":       {130000, []string{"CockroachDB", "advisory locks", "use PostgreSQL 13"}},
		"PostgreSQL 11.2-YB-2.13.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 12.0.1":  {110002, []string{"YugabyteDB", "xmax", "use PostgreSQL 13"}},
		"PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang, 64-bit":       {150002, []string{"YugabyteDB", "xmax", "use PostgreSQL 13"}},
		"PostgreSQL 12.22 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit":                         {120022, []string{"too old", "12.22", "use PostgreSQL 13"}},
		"PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.123": {80002, []string{"too old", "Redshift", "use PostgreSQL 13"}},
		"PostgreSQL 13.0 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit":                          {130000, nil},
		"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc":        {150018, nil},
		"PostgreSQL 18.4 on aarch64-unknown-linux-gnu, compiled by gcc, 64-bit":                    {180004, nil},
	} {
		err := foreignEngine(banner, c.version)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", banner, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", banner, err, want)
			}
		}
	}
}

func TestTheServerOfTheTestsIsNotForeign(t *testing.T) {
	found, err := describe(t.Context(), connect(t, testdb.Postgres(t)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(found.banner, "PostgreSQL ") || foreignEngine(found.banner, found.version) != nil {
		t.Errorf("%q, %d: %v", found.banner, found.version, foreignEngine(found.banner, found.version))
	}
}

// Another function version stands before the server's own in the search path, as if the
// server had another banner.
func TestOpenRefusesAForeignEngine(t *testing.T) {
	at := testdb.Postgres(t)
	conn := connect(t, at)
	if _, err := conn.Exec(t.Context(), "create function public.version() returns text language sql as $$ select 'CockroachDB CCL v24.3.5' $$"); err != nil {
		t.Fatal(err)
	}
	for _, options := range []Options{{}, {NoMigrate: true}, {SchemaOnly: true}} {
		_, err := OpenWith(t.Context(), withParams(t, at, "search_path", "public,pg_catalog"), options)
		if err == nil || !strings.Contains(err.Error(), "which Fairlead does not support") {
			t.Errorf("%+v: %v", options, err)
		}
		if errors.Is(err, fairlead.ErrUnavailable) {
			t.Errorf("a start would be tried again: %v", err)
		}
	}
	var tables int
	if err := conn.QueryRow(t.Context(), "select count(*) from pg_tables where schemaname = 'public'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were created: %v", tables, err)
	}
}
