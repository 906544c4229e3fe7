package pages

import (
	"os"
	"strconv"
	"testing"

	"github.com/fairlead-io/fairlead/internal/bench/lists"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// TestEveryNumberLeadsToAFirstPageWithRows follows the numbers of a store whose oldest jobs are
// stuck. TestAMillionJobs in tests/browser does it with a million jobs.
func TestEveryNumberLeadsToAFirstPageWithRows(t *testing.T) {
	tier.Long(t, "fills every database and follows hundreds of numbers")
	jobs := 50_000
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
			at := url(t)
			store, err := openAt(t, at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			if err := (lists.Crowd{URL: at, Store: store, Jobs: jobs}).Fill(t.Context()); err != nil {
				t.Fatal(err)
			}
			followed, err := Pages{lists.Lists{URL: at, Store: store}}.Follow(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := Judge(followed); err != nil {
				t.Error(err)
			}
			var slowest, largest Followed
			for _, f := range followed {
				if f.Millis > slowest.Millis {
					slowest = f
				}
				if f.Read > largest.Read {
					largest = f
				}
			}
			t.Logf("%d numbers; slowest: %+v; most reads: %+v", len(followed), slowest, largest)
		})
	}
}
