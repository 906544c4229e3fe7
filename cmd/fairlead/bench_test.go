package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestBenchPrintsAResultThatProgramsCanRead(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	for _, workload := range []string{"enqueue", "drain", "sustained", "latency", "longtx"} {
		t.Run(workload, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := []string{"bench", workload, "--db", db, "--jobs", "20", "--batch", "10", "--seconds", "5", "-o", "json"}
			if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			var result map[string]any
			if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
				t.Fatalf("%v in %q", err, stdout.String())
			}
			for _, key := range []string{"seconds", "rate", "client_us_per_job", "server_us_per_job"} {
				if _, ok := result[key].(float64); !ok {
					t.Errorf("%s is missing in %v", key, result)
				}
			}
			if result["workload"] != workload || result["store"] != "sqlite" || result["jobs"].(float64) < 20 {
				t.Errorf("got %v", result)
			}
		})
	}
}

func TestBenchMeasuresANodeThatRecordsNoHolds(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	typed(t, exitOK, "bench", "sustained", "--db", db, "--seconds", "0.5", "--hold-retention", "off")
	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if state, err := store.HoldLook(t.Context()); err != nil || state.Version != 0 {
		t.Errorf("it looked: %+v, %v", state, err)
	}
	if _, errs := typed(t, exitUsage, "bench", "sustained", "--db", db, "--hold-retention", "none"); !strings.Contains(errs, "or off") {
		t.Errorf("got %s", errs)
	}
}

func TestBenchBatchPrintsAResultThatProgramsCanRead(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "batch", "--db", "sqlite://" + filepath.Join(t.TempDir(), "bench.db"), "--jobs", "1000", "-o", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var result map[string]any
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		t.Fatalf("%v in %q", err, stdout.String())
	}
	for _, key := range []string{"seconds", "rate", "create_seconds", "view_ms", "view_p99_ms", "nodes_ms", "view_idle_ms", "plain_rate", "rate_ratio", "drain_ratio", "ratio"} {
		if value, ok := result[key].(float64); !ok || value <= 0 {
			t.Errorf("%s is %v in %v", key, result[key], result)
		}
	}
}

func TestBenchSweepPrintsAResultThatProgramsCanRead(t *testing.T) {
	for name, flags := range map[string]string{"to its end": "--items 50000", "for some time": "--items 10000000000 --seconds 0.3"} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"bench", "sweep", "--db", "sqlite://" + filepath.Join(t.TempDir(), "bench.db"), "-o", "json"}, strings.Fields(flags)...)
			if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			var result map[string]any
			if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
				t.Fatalf("%v in %q", err, stdout.String())
			}
			for _, key := range []string{"seconds", "rate", "start_ms", "client_us_per_item", "checkpoint_bytes", "checkpoint_ms", "rss_mb", "rss_growth_mb"} {
				if _, ok := result[key].(float64); !ok {
					t.Errorf("%s is missing in %v", key, result)
				}
			}
			if items := result["items"].(float64); items == 0 || items > 1e9 || result["workload"] != "sweep" || result["checkpoint_bytes"].(float64) > 4096 {
				t.Errorf("got %v", result)
			}
		})
	}
}

// These parts run other processes of the program.
func TestBenchSweepMeasuresRatesAndCalls(t *testing.T) {
	tier.Long(t, "measures rates against the clock, in processes of its own")
	t.Parallel()
	for part, c := range map[string]struct {
		flags string
		parts string
		keys  []string
	}{
		"rate": {"--rate 500 --seconds 1 --lease 1s", "rate rate-handover rate-crash", []string{"set_rate", "rate", "error_percent", "largest_100ms", "highest_second", "lowest_second"}},
		"http": {"--pairs 1 --seconds 0.2 --in-flight 4", "http http-ok http-1ms http-5ms", []string{"rate", "client_us_per_item", "client_rate", "ratio"}},
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			args := append([]string{"bench", "sweep", "--part", part, "--db", "sqlite://" + filepath.Join(t.TempDir(), "bench.db"), "-o", "json"}, strings.Fields(c.flags)...)
			if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			var parts []string
			for line := range strings.Lines(stdout.String()) {
				var figures map[string]any
				if err := json.Unmarshal([]byte(line), &figures); err != nil {
					t.Fatalf("%v in %q", err, line)
				}
				for _, key := range c.keys {
					if _, ok := figures[key].(float64); !ok {
						t.Errorf("%s is missing in %v", key, figures)
					}
				}
				if figures["rate"] == 0.0 || figures["store"] != "sqlite" {
					t.Errorf("the figures are %v", figures)
				}
				parts = append(parts, figures["part"].(string))
			}
			if got := strings.Join(parts, " "); got != c.parts {
				t.Errorf("the parts are %s", got)
			}
		})
	}
}

func TestBenchEnqueueLeavesJobsForANode(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"bench", "enqueue", "--db", db, "--jobs", "1500"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "1,500") {
		t.Errorf("the table does not tell the number of jobs:\n%s", stdout.String())
	}
	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	tally, err := store.Tally(t.Context(), fairlead.Filter{Kinds: []string{"noop"}, Queues: []string{fairlead.DefaultQueue}})
	if err != nil {
		t.Fatal(err)
	}
	if tally[fairlead.Ready] != 1500 {
		t.Errorf("the store has %v, want 1500 ready", tally)
	}
}

func TestBenchRefusesNonsense(t *testing.T) {
	for _, args := range []string{
		"bench drain --jobs -1",
		"bench sustained --seconds -0.5",
		"bench latency --processes 3",
		"bench drain -o yaml",
		"bench drain --frobnicate",
		"bench sweep --part nonsense",
		"bench sweep --part rate --lease 1ms",
		"bench sweep --part http --pairs -1",
		"bench fair --pairs -1",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != exitUsage {
			t.Errorf("%s: exit code %d, want %d: %s", args, code, exitUsage, stderr.String())
		}
	}
}

func TestBenchTenantsPrintsALinePerPart(t *testing.T) {
	tier.Long(t, "measures for seconds")
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "tenants", "--db", db, "--jobs", "200", "--pairs", "1", "--seconds", "0.6", "--backlog", "300", "-o", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var parts []string
	for line := range strings.Lines(stdout.String()) {
		var part map[string]any
		if err := json.Unmarshal([]byte(line), &part); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		for _, key := range []string{"seconds", "rate", "client_us_per_job", "server_us_per_job"} {
			if _, ok := part[key].(float64); !ok {
				t.Errorf("%s is missing in %v", key, part)
			}
		}
		parts = append(parts, part["part"].(string))
	}
	if got := strings.Join(parts, " "); got != "caps-1 caps-4 global-4 binding crowd many" {
		t.Errorf("the parts are %s", got)
	}
	stdout.Reset()
	if code := run(t.Context(), []string{"bench", "tenants", "--db", db, "--part", "nonsense"}, &stdout, &stderr); code == exitOK {
		t.Error("a part that does not exist was measured")
	}
}

func TestBenchFairPrintsSharesAndWhatTheyCost(t *testing.T) {
	for name, database := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "bench.db") },
		"PostgreSQL": func(t *testing.T) string { return testdb.Postgres(t) },
		"MySQL":      func(t *testing.T) string { return testdb.MySQL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			if name != "SQLite" {
				tier.Long(t, "it is measured alike on every database")
			}
			var stdout, stderr bytes.Buffer
			args := []string{"bench", "fair", "--db", database(t), "--jobs", "200", "--pairs", "1", "-o", "json"}
			if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			var measured map[string]any
			if err := json.Unmarshal(stdout.Bytes(), &measured); err != nil {
				t.Fatalf("%v in %q", err, stdout.String())
			}
			for _, key := range []string{"rate", "client_us_per_job", "server_us_per_job", "loss_percent", "cpu_loss_percent", "off_percent"} {
				if _, ok := measured[key].(float64); !ok {
					t.Errorf("%s is missing in %v", key, measured)
				}
			}
			if shares, _ := measured["shares"].([]any); len(shares) != 3 {
				t.Errorf("the shares are %v", measured["shares"])
			}
		})
	}
}

func TestBenchSchedulesMeasuresPunctualityAndRest(t *testing.T) {
	tier.Long(t, "measures for seconds")
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "schedules", "--db", db, "--items", "1200", "--rate", "20", "--seconds", "1", "-o", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	var figures map[string]any
	if err := json.Unmarshal(stdout.Bytes(), &figures); err != nil {
		t.Fatalf("%v in %q", err, stdout.String())
	}
	for _, key := range []string{"seconds", "rate", "client_us_per_job", "server_us_per_job", "lateness_p50_ms", "lateness_p99_ms", "idle_cpu_percent", "create_seconds"} {
		if _, ok := figures[key].(float64); !ok {
			t.Errorf("%s is missing in %v", key, figures)
		}
	}
	if figures["workload"] != "schedules" || figures["jobs"] != 20.0 || figures["items"] != 1200.0 {
		t.Errorf("the figures are %v", figures)
	}
	if code := run(t.Context(), args, &stdout, &stderr); code == exitOK {
		t.Error("schedules that were there before were measured too")
	}
	args = []string{"bench", "schedules", "--db", db, "--seconds", "1.5"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitUsage {
		t.Errorf("half a second was accepted with code %d", code)
	}
}

func TestBenchListsMarksWhatReadsTooMuch(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "lists", "--db", db, "--jobs", "2000", "-o", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	lists := 0
	for line := range strings.Lines(stdout.String()) {
		var figure map[string]any
		if err := json.Unmarshal([]byte(line), &figure); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if figure["above"] != false || figure["list"] == "" || figure["read"].(float64) < 0 {
			t.Errorf("the figures are %v", figure)
		}
		lists++
	}
	if lists < 100 {
		t.Errorf("only %d lists were measured", lists)
	}
	stderr.Reset()
	if code := run(t.Context(), args, &stdout, &stderr); code == exitOK || !strings.Contains(stderr.String(), "empty database") {
		t.Errorf("a database with jobs was filled again, with code %d: %s", code, stderr.String())
	}
}

func TestBenchConsoleMarksPagesThatReadTooMuch(t *testing.T) {
	tier.Long(t, "measures every page")
	db := "sqlite://" + filepath.Join(t.TempDir(), "bench.db")
	var stdout, stderr bytes.Buffer
	args := []string{"bench", "console", "--db", db, "--jobs", "2000", "-o", "json"}
	if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	pages := 0
	for line := range strings.Lines(stdout.String()) {
		var figure map[string]any
		if err := json.Unmarshal([]byte(line), &figure); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if figure["above"] != false || figure["list"] == "" {
			t.Errorf("the figures are %v", figure)
		}
		pages++
	}
	if pages < 50 {
		t.Errorf("only %d pages were measured", pages)
	}
}
