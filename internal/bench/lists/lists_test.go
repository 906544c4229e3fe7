package lists

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

// jobsEnv is how many jobs there are when lists are measured.
const jobsEnv = "FAIRLEAD_LIST_JOBS"

func openAt(t *testing.T, url string) (fairlead.Store, error) {
	switch {
	case strings.HasPrefix(url, "postgres"):
		return postgres.Open(t.Context(), url)
	case strings.HasPrefix(url, "mysql"):
		return mysql.Open(t.Context(), url)
	}
	return sqlite.Open(t.Context(), url)
}

func TestListsReadAsMuchAsTheirPages(t *testing.T) {
	jobs := 20_000
	if text := os.Getenv(jobsEnv); text != "" {
		var err error
		if jobs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for name, url := range map[string]func() string{
		"postgres": func() string { return testdb.Postgres(t) },
		"mysql":    func() string { return testdb.MySQL(t) },
		"sqlite":   func() string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") },
	} {
		t.Run(name, func(t *testing.T) {
			at := url()
			store, err := openAt(t, at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			stock, err := Lists{URL: at, Store: store, Jobs: jobs}.fill(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			figures, err := stock.measure(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := WriteTable(&table, figures); err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + table.String())
		})
	}
}
