package metrics

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

//go:generate go test -run ^TestTheReferenceListsEveryMetric$ -update .

var update = flag.Bool("update", false, "rewrite the tables of docs/reference/metrics.md")

// alarm is a metric, and when to be worried by it.
type alarm struct{ name, when string }

// shown are the metrics in the order of docs/reference/metrics.md, and what to alarm on.
var shown = []struct {
	group string
	rows  []alarm
}{
	{"Read from the store", []alarm{
		{"fairlead_store_up", "0 for a minute"},
		{"fairlead_ready_jobs", "keeps growing for longer than you can accept"},
		{"fairlead_oldest_wait_seconds", "longer than your users can wait; the best single alert"},
		{"fairlead_jobs", ""},
		{"fairlead_tenant_jobs", ""},
		{"fairlead_live_nodes", "fewer than you started"},
		{"fairlead_dead_nodes", "see `fairlead_lost_nodes_total`"},
		{"fairlead_open_bulks", "`pending` for minutes: no node carries out bulks"},
		{"fairlead_hold_look_age_seconds", "above five minutes: no node is recording, so waits cannot be explained later"},
	}},
	{"Counted by each node", []alarm{
		{"fairlead_node_up", "0 for longer than a lease"},
		{"fairlead_slot_usage_ratio", "near 1 while jobs wait: add nodes or slots"},
		{"fairlead_slots", ""},
		{"fairlead_busy_slots", ""},
		{"fairlead_queue_usage_ratio", ""},
		{"fairlead_queued_jobs", ""},
		{"fairlead_claims_total", ""},
		{"fairlead_claimed_jobs_total", "does not increase while jobs are ready"},
		{"fairlead_job_duration_seconds", "share of `failed`, or a quantile"},
		{"fairlead_failed_attempts_total", "any `panic`; the others depend on your handlers"},
		{"fairlead_job_update_failures_total", "increases for several minutes"},
		{"fairlead_unsaved_runs", "thousands"},
		{"fairlead_fenced_writes_refused_total", "increases: a node was suspended or cut off"},
		{"fairlead_lease_losses_total", "increases"},
		{"fairlead_reaped_total", "increases"},
		{"fairlead_lost_nodes_total", "increases"},
		{"fairlead_unreaped_jobs", "above 0; also reported in the log"},
		{"fairlead_fires_total", "skips that you do not expect"},
		{"fairlead_fire_lateness_seconds", "p99 above a second"},
		{"fairlead_bulk_jobs_total", "share of `missed`"},
		{"fairlead_batch_update_failures_total", "increases: the database has a problem"},
		{"fairlead_stalls_total", "increases"},
		{"fairlead_abandoned_handlers_total", "increases: a handler has a bug"},
		{"fairlead_stuck_handlers", "above 0"},
		{"fairlead_store_seconds", "p99 of `beat` approaches a quarter of the lease"},
		{"fairlead_build_info", "two versions for longer than a rollout takes"},
	}},
}

// idle is a node that does nothing.
type idle struct{}

func (idle) Stats() engine.Stats { return engine.Stats{} }

// TestTheReferenceListsEveryMetric keeps the tables of docs/reference/metrics.md true.
func TestTheReferenceListsEveryMetric(t *testing.T) {
	const file, below = "../docs/reference/metrics.md", "<!-- What follows is generated from the program: make generate rewrites it. -->\n"
	made := gathered(t)
	var page strings.Builder
	for _, group := range shown {
		fmt.Fprintf(&page, "\n## %s\n\n| Name | Type | Labels | Meaning | Alert when |\n|---|---|---|---|---|\n", group.group)
		for _, row := range group.rows {
			text, there := made[row.name]
			if !there {
				t.Fatalf("%s is not made, or listed twice", row.name)
			}
			delete(made, row.name)
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", row.name, text, row.when)
		}
	}
	for name := range made {
		t.Errorf("%s is made and not listed here: add it, with what to alarm on", name)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written, got, found := strings.Cut(string(text), below)
	switch {
	case !found:
		t.Fatalf("%s has no line %q", file, below)
	case got == page.String():
	case !*update:
		t.Errorf("%s is not what is made; make generate rewrites it as\n%s", file, page.String())
	default:
		if err := os.WriteFile(file, []byte(written+below+page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// gathered returns the type, labels and meaning of every Fairlead metric, as cells of a
// table. A registered metric without a series is an error in this test.
func gathered(t *testing.T) map[string]string {
	t.Helper()
	store := sqlitetest.Open(t)
	defer store.Close()
	if err := fairlead.NewClient(store).Enqueue(t.Context(), &fairlead.Job{Kind: "any"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.KeepHolds(t.Context(), hold.Found{Next: 1, Now: time.Now(), Due: time.Minute}); err != nil {
		t.Fatal(err)
	}
	m := New(Options{Version: "any", Logger: slog.New(slog.DiscardHandler)})
	m.Watch(idle{}, store)
	m.statements.WithLabelValues("any")
	m.failures.WithLabelValues("any", "any")
	m.fires.WithLabelValues("any")
	m.BulkStepped(0, 0)
	m.durations.of("any", failed)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]string{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "fairlead_") {
			continue
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+label.GetName()+"`")
		}
		slices.Sort(labels)
		help := strings.ReplaceAll(strings.TrimSuffix(family.GetHelp(), "."), "_", "\\_")
		made[family.GetName()] = fmt.Sprintf("%s | %s | %s", strings.ToLower(family.GetType().String()), strings.Join(labels, ", "), help)
	}
	described := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(described)
	close(described)
	for desc := range described {
		_, rest, ours := strings.Cut(desc.String(), `fqName: "fairlead_`)
		name, _, _ := strings.Cut(rest, `"`)
		if ours && made["fairlead_"+name] == "" {
			t.Errorf("fairlead_%s is registered and has no series in this test: give it one", name)
		}
	}
	return made
}
