package console

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestFailuresOfOneCauseHaveAPageOfTheirOwn(t *testing.T) {
	kinds := fairlead.NewMux()
	kinds.Handle("import", fairlead.HandlerOptions{MaxAttempts: 1}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
		if job.ID%3 == 0 {
			return errors.New("disk full")
		}
		return fmt.Errorf("order %d not found", job.ID)
	}))
	r := newRig(t, false, kinds)
	for i := range 9 {
		r.enqueue(&fairlead.Job{Kind: "import", Tenant: fmt.Sprint("tenant-", i%2)})
	}
	r.run()
	for failed := 0; failed < 9; {
		page, err := r.jobs.Find(t.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Failed}})
		if err != nil {
			t.Fatal(err)
		}
		failed = len(page.Jobs)
	}
	r.console.forget()
	link := regexp.MustCompile(`href="(/failures/cause\?[^"]*order[^"]*)"`).FindStringSubmatch(r.page(http.StatusOK, "/failures"))
	if link == nil {
		t.Fatal("no link leads to the cause")
	}
	page := r.page(http.StatusOK, html.UnescapeString(link[1]))
	r.shows(page, "order N not found", "Based on 9 failed jobs of this kind", "<dd>6</dd>", `id="cause-trend"`, "tenant-0", "tenant-1")
	r.hides(page, "disk full")
	retry := regexp.MustCompile(`href="(/new/bulk/retry\?filter=[^"]*)"`).FindStringSubmatch(page)
	if retry == nil {
		t.Fatal("no button runs all of them again")
	}
	r.shows(r.page(http.StatusOK, html.UnescapeString(retry[1])), `<strong id="bulk-matched">6</strong>`, "Error: order N not found")
	r.shows(r.page(http.StatusBadRequest, "/failures/cause?kind=import"), "must be specified together with like")
}

func TestATrendCountsWhatIsInItsSpan(t *testing.T) {
	from := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return from.Add(time.Duration(minutes) * time.Minute) }
	drawn := newTrend([]time.Time{at(-1), at(0), at(5), at(5), at(59), at(60), at(61)}, from, at(60), trendSize{600, 50, 6})
	var counts []int
	for _, bar := range drawn.Bars {
		counts = append(counts, bar.N)
	}
	if fmt.Sprint(counts) != "[3 2]" || drawn.Most != 3 || !drawn.Bars[1].From.Equal(at(50)) {
		t.Errorf("%v, at most %d: %+v", counts, drawn.Most, drawn.Bars)
	}
	if empty := newTrend(nil, from, at(60), smallTrend); len(empty.Bars) > 0 {
		t.Errorf("nothing is drawn as %+v", empty)
	}
	if one := newTrend([]time.Time{from}, from, from, smallTrend); len(one.Bars) != 1 {
		t.Errorf("one moment is drawn as %+v", one)
	}
}
