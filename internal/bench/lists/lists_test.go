package lists

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

// jobsEnv is how many jobs there are when lists are measured.
const jobsEnv = "FAIRLEAD_LIST_JOBS"

func openAt(t *testing.T, url string) (Store, error) {
	switch {
	case strings.HasPrefix(url, "postgres"):
		return postgres.Open(t.Context(), url)
	case strings.HasPrefix(url, "mysql"):
		return mysql.Open(t.Context(), url)
	}
	return sqlite.Open(t.Context(), url)
}

// Every list reads what its page allows, whatever is stored, and following the pages
// finds what there is.
func TestListsReadAsMuchAsTheirPages(t *testing.T) {
	jobs := tier.Size(t, 2000, 10_000, "many jobs on every database")
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
			if name != "sqlite" {
				tier.Long(t, "every list on every database")
			}
			at := url(t)
			store, err := openAt(t, at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			s, err := Lists{URL: at, Store: store, Jobs: jobs}.fill(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			figures, err := s.measure(t.Context())
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
					t.Errorf("%s has %d rows and reads %d", f.Name, f.Rows, f.Read)
				}
			}
			if jobs <= 50_000 {
				checkPages(t, s)
			}
		})
	}
}

// checkPages follows the pages of every filter.
func checkPages(t *testing.T, s *stock) {
	t.Helper()
	all := make([]made, s.jobs)
	for i := range all {
		all[i] = s.job(i)
	}
	for name, filter := range s.jobFilters() {
		var want, got []int64
		counts := map[fairlead.State]int64{}
		for _, job := range slices.Backward(all) {
			if s.matches(filter, job) {
				want = append(want, job.id)
				counts[job.state]++
			}
		}
		tally, err := s.client.Tally(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		if filter.Below == 0 && !maps.Equal(tally, counts) {
			t.Errorf("%s: the tally is %v, not %v", name, tally, counts)
		}
		filter.Limit = page
		for more := true; more; more = filter.Below > 0 {
			found, err := s.client.Find(t.Context(), filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, job := range found.Jobs {
				got = append(got, job.ID)
			}
			filter.Below = found.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the pages have %d jobs, not %d", name, len(got), len(want))
		}
	}
}
