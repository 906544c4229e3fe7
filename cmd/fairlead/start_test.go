package main

import (
	"path/filepath"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

// TestProcessesThatStartAtOnceOnAnEmptyDatabaseAllServe starts three nodes as a
// deployment does.
func TestProcessesThatStartAtOnceOnAnEmptyDatabaseAllServe(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(t *testing.T) string{
		"mysql":    func(t *testing.T) string { return testdb.MySQL(t) },
		"postgres": func(t *testing.T) string { return testdb.Postgres(t) },
		"sqlite":   func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := url(t)
			var nodes []*process
			for range 3 {
				nodes = append(nodes, launchProcess(t, "--db", db))
			}
			for _, node := range nodes {
				node.awaitServing(t)
			}
		})
	}
}
