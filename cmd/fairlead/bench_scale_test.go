package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestBenchCountsWhatADatabaseWritesAndRuns(t *testing.T) {
	for name, test := range map[string]struct {
		database func(t *testing.T) string
		keys     []string
	}{
		"SQLite":     {func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "bench.db") }, []string{"wal_bytes_per_job"}},
		"PostgreSQL": {func(t *testing.T) string { return testdb.Postgres(t) }, []string{"wal_bytes_per_job"}},
		"MySQL":      {func(t *testing.T) string { return testdb.MySQL(t) }, []string{"wal_bytes_per_job", "statements_per_job"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := []string{"bench", "enqueue", "--db", test.database(t), "--jobs", "2000", "-o", "json"}
			if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			var result map[string]any
			if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
				t.Fatalf("%v in %q", err, stdout.String())
			}
			for _, key := range test.keys {
				if value, _ := result[key].(float64); value <= 0 {
					t.Errorf("%s is %v", key, result[key])
				}
			}
		})
	}
}

func TestBenchScaleNeedsNoDatabaseAndDrawsAChart(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "chart.svg")
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "scale", "--nodes", "1,3", "--tenants", "300", "--seconds", "2", "--chart", chart, "-o", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %q", lines)
	}
	var figures map[string]any
	if err := json.Unmarshal([]byte(lines[1]), &figures); err != nil {
		t.Fatal(err)
	}
	if figures["nodes"] != 3.0 || figures["tenants"] != 300.0 || figures["starts_per_second"] != 30.0 {
		t.Errorf("got %v", figures)
	}
	if drawn, err := os.ReadFile(chart); err != nil || !bytes.HasPrefix(drawn, []byte("<svg")) {
		t.Errorf("the chart is %q, %v", drawn, err)
	}
}

func TestBenchScaleRefusesNumbersThatMeanNothing(t *testing.T) {
	for _, flags := range []string{"--nodes 0", "--tenants 10,-1", "--busy -1", "--max -1", "--seconds 0.5", "--nodes="} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"bench", "scale"}, strings.Fields(flags)...), &stdout, &stderr); code != exitUsage {
			t.Errorf("%s: code %d, %s", flags, code, stderr.String())
		}
	}
}
