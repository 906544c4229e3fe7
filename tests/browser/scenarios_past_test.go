package browser

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// learnsWhatHappenedYesterday looks at a time at which some jobs failed.
func learnsWhatHappenedYesterday(t *testing.T) *person {
	needBrowser(t)
	berlin, err := time.LoadLocation("Europe/Berlin") // the zone of the tab
	if err != nil {
		t.Fatal(err)
	}
	yesterday := time.Now().In(berlin).AddDate(0, 0, -1)
	three := time.Date(yesterday.Year(), yesterday.Month(), yesterday.Day(), 3, 0, 0, 0, berlin)
	file := filepath.Join(t.TempDir(), "night.db")
	from := time.Now()
	url, stop := serveNight(t, file, "--retention", "succeeded=7d")
	n := &night{person: &person{tab: &tab{T: t}}, url: url, target: newTarget(t)}
	for range 12 {
		n.enqueue(n.call("/fine", `,"tenant":"acme"`))
	}
	failed := n.enqueue(n.call("/fails-with-404", `,"tenant":"acme"`))[0]
	n.awaits("the jobs end", func() bool { return n.count("state=succeeded&state=failed") == 13 })
	stop()
	age(t, file, from.Sub(three))

	n.url, _ = serveNight(t, file, "--retention", "succeeded=7d")
	n.enqueue(n.call("/fine", ""), n.call("/fine", ""))
	n.wakes()
	n.goes(".nav", "Runs")
	n.click("#period-custom", "Custom Time zone: Europe/Berlin")
	n.types("From", three.Add(-5*time.Minute).Format("2006-01-02T15:04"))
	n.types("To", three.Add(30*time.Minute).Format("2006-01-02T15:04"))
	n.goes("#period-custom", "Apply")
	jobs := read[struct{ Items []struct{ ID string } }](n, fmt.Sprintf("/jobs?from=%s&to=%s", three.Add(-5*time.Minute).UTC().Format(time.RFC3339), three.Add(30*time.Minute).UTC().Format(time.RFC3339)))
	if len(jobs.Items) != 13 {
		t.Errorf("%d jobs were created at the time", len(jobs.Items))
	}
	n.goes("#runs-chart a:has(.tone-bad)", "")
	if id := n.lastOf("/jobs/"); id != failed {
		t.Errorf("the failed run is %s, not %s", id, failed)
	}
	n.sees("#job-error", "404")
	return n.person
}

// age moves everything that the database records about jobs into the past.
func age(t *testing.T, file string, by time.Duration) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for table, columns := range map[string][]string{"job": {"created_at", "not_before"}, "done": {"started_at", "finished_at"}, "attempt": {"started_at", "finished_at"}, "id_mark": {"marked_at", "latest"}} {
		for _, column := range columns {
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf("update fairlead_%s set %s = %s - ?", table, column, column), by.Microseconds()); err != nil {
				t.Fatalf("%s.%s: %v", table, column, err)
			}
		}
	}
}

// sharesAPeriodAndItsFilters gives a link to a person with another time zone and language.
func sharesAPeriodAndItsFilters(t *testing.T) *person {
	n := newNight(t)
	n.enqueue(`{"kind":"legacy","tenant":"acme"}`, `{"kind":"legacy","tenant":"acme"}`, `{"kind":"legacy","tenant":"globex"}`)
	n.wakes()
	n.goes(".nav", "Jobs")
	n.types("Tenant", "acme")
	n.goes(".head form", "Filter")
	n.goes("#period", "1h")
	n.goes("#period", "Link to this period")
	link := value[string](n.tab, `location.pathname + location.search`)
	other := open(t, n.url, look{width: 1440, height: 900, lang: "zh", cookies: map[string]string{"zone": "America%2FNew_York"}})
	other.visit(link)
	const rows = `[...document.querySelectorAll("#jobs-table [data-row]")].map(row => row.id)`
	const period = `[...document.querySelectorAll("#period-chosen time")].map(time => time.dateTime)`
	if own := value[[]string](n.tab, rows); len(own) != 2 || !slices.Equal(own, value[[]string](other, rows)) {
		t.Errorf("the rows are %v, and those of the other person %v", own, value[[]string](other, rows))
	}
	if own := value[[]string](n.tab, period); len(own) != 2 || !slices.Equal(own, value[[]string](other, period)) {
		t.Errorf("the period is %v, and that of the other person %v", own, value[[]string](other, period))
	}
	if zone := value[string](other, `document.getElementById("period-zone").innerText`); zone == value[string](n.tab, `document.getElementById("period-zone").innerText`) {
		t.Errorf("the other person has the same time zone: %s", zone)
	}
	other.quiet("the shared page")
	return n.person
}

// rollsBackABatchAfterAPreview rolls back the batch of the demo while it runs.
func rollsBackABatchAfterAPreview(t *testing.T) *person {
	n := newNight(t, "--demo")
	type batches struct {
		Items []struct {
			ID, Name, State string
			Tally           struct{ Success int }
		}
	}
	n.awaits("tasks have succeeded", func() bool {
		open := read[batches](n, "/batches?open=true").Items
		return len(open) > 0 && open[0].Tally.Success >= 3
	})
	batch := read[batches](n, "/batches?open=true").Items[0]
	n.wakes()
	n.goes("#overview-batches", batch.Name)
	n.opens("#batch-actions", "Roll back")
	n.sees("#dialog", "State after rollback")
	if now := read[struct{ State string }](n, "/batches/"+batch.ID); now.State != batch.State {
		t.Errorf("the preview changed the batch from %s to %s", batch.State, now.State)
	}
	n.submits("Roll back batch")
	n.awaits("tasks are rolled back", func() bool {
		return read[struct {
			Tally struct {
				RollbackSuccess int `json:"rollback_success"`
			}
		}](n, "/batches/"+batch.ID).Tally.RollbackSuccess > 0
	})
	n.await(`Number(document.querySelector("#figure-rollback_success [data-count]")?.dataset.count) > 0`)
	n.ask(http.MethodGet, "/batches/"+batch.ID+"/explain", "")
	return n.person
}
