package pages

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/internal/bench/lists"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

// jobsEnv is how many jobs there are when pages are measured.
const jobsEnv = "FAIRLEAD_LIST_JOBS"

func openAt(t *testing.T, url string) (lists.Store, error) {
	switch {
	case strings.HasPrefix(url, "postgres"):
		return postgres.Open(t.Context(), url)
	case strings.HasPrefix(url, "mysql"):
		return mysql.Open(t.Context(), url)
	}
	return sqlite.Open(t.Context(), url)
}

func TestPagesReadAsMuchAsTheyShow(t *testing.T) {
	tier.Long(t, "measures every page on every database")
	jobs := 10_000
	if text := os.Getenv(jobsEnv); text != "" {
		var err error
		if jobs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for name, url := range map[string]func(t *testing.T) string{
		"postgres": func(t *testing.T) string { return testdb.Postgres(t) },
		"mysql":    func(t *testing.T) string { return testdb.MySQL(t) },
		"sqlite":   func(t *testing.T) string { return sqlitetest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := url(t)
			store, err := openAt(t, at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			figures, err := Pages{lists.Lists{URL: at, Store: store, Jobs: jobs}}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := WriteTable(&table, figures); err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + table.String())
			for _, f := range figures {
				if f.Above {
					t.Errorf("%s shows %d rows and reads %d", f.Name, f.Rows, f.Read)
				}
			}
		})
	}
}

// anyStored has what addresses need to be written down.
func anyStored() lists.Stored {
	s := lists.Stored{
		Began: time.Unix(1_700_000_000, 0), Ended: time.Unix(1_701_000_000, 0), Jobs: map[fairlead.State]int64{},
		Tenant: "tenant", FewTenant: "few", Calendar: "calendar", Schedule: 1, Batch: 1, OpenBatch: 2, Sweep: 1, Bulk: 1, Node: 1,
	}
	for i, state := range jobStates {
		s.Jobs[state] = int64(i) + 1
	}
	return s
}

func TestEveryScreenIsMeasured(t *testing.T) {
	mux := http.NewServeMux()
	measured := map[string]bool{}
	for _, path := range console.Paths() {
		mux.Handle("GET "+path, http.NotFoundHandler())
	}
	for _, a := range asksOf(anyStored()) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(request)
		if pattern == "" {
			t.Errorf("%s is measured, which is no screen", a.path)
		}
		measured[strings.TrimPrefix(pattern, "GET ")] = true
	}
	for _, path := range console.Paths() {
		if !measured[path] {
			t.Errorf("the screen %s is not measured: add it to asks.go", path)
		}
	}
}
