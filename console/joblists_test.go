package console

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// failing handles kinds whose jobs fail, each with an error of its own.
func failing() *fairlead.Mux {
	kinds := fairlead.NewMux()
	handle := func(kind string, handler fairlead.HandlerFunc) {
		kinds.Handle(kind, fairlead.HandlerOptions{}, handler)
	}
	handle("noop", func(context.Context, *fairlead.Job) error { return nil })
	handle("bill", func(_ context.Context, job *fairlead.Job) error {
		if job.ID%3 == 0 {
			return fairlead.Fatal(errors.New("the card was refused"))
		}
		return fairlead.Fatal(fmt.Errorf("order %d is unknown\nmore of it <b>", job.ID))
	})
	handle("mail", func(_ context.Context, job *fairlead.Job) error {
		return fairlead.Fatal(fmt.Errorf("order %d is unknown", job.ID))
	})
	return kinds
}

// await waits until so many jobs have ended.
func (r *rig) await(n int64) {
	r.Helper()
	deadline := time.After(patience.Limit)
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		counts, err := r.jobs.Tally(r.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Succeeded, fairlead.Failed}})
		if err != nil {
			r.Fatal(err)
		}
		if counts[fairlead.Succeeded]+counts[fairlead.Failed] == n {
			return
		}
		select {
		case <-deadline:
			r.Fatalf("%v have ended, want %d", counts, n)
		case <-ticks.C:
		}
	}
}

var (
	listRow   = regexp.MustCompile(`<tr data-row id="job-(\d+)"`)
	nextHref  = regexp.MustCompile(`<a href="([^"]*)"[^>]* data-next`)
	countHref = regexp.MustCompile(`href="([^"]*)" data-count="(\d+)"( data-more)?`)
)

// listed returns the IDs of the jobs in a list, from all of its pages.
func (r *rig) listed(path string, cookies ...string) (ids []string) {
	r.Helper()
	for pages := 0; path != ""; pages++ {
		if pages > 100 {
			r.Fatalf("%s leads to no end", path)
		}
		page := r.page(http.StatusOK, path, cookies...)
		for _, row := range listRow.FindAllStringSubmatch(page, -1) {
			ids = append(ids, row[1])
		}
		path = ""
		if next := nextHref.FindStringSubmatch(page); next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	return ids
}

// countsHold follows every count of a page to the rows that it counts, and returns how
// many counts there are.
func (r *rig) countsHold(path string, cookies ...string) (counts, stopped int) {
	r.Helper()
	for _, found := range countHref.FindAllStringSubmatch(r.page(http.StatusOK, path, cookies...), -1) {
		rows := r.listed(html.UnescapeString(found[1]), cookies...)
		if fmt.Sprint(len(rows)) != found[2] {
			r.Errorf("%s: a count of %s leads to %d rows: %s", path, found[2], len(rows), found[1])
		}
		counts++
		if found[3] != "" {
			stopped++
		}
	}
	return counts, stopped
}

func jobsOf(n int, job fairlead.Job) (all []*fairlead.Job) {
	for range n {
		one := job
		all = append(all, &one)
	}
	return all
}

func TestTabsCountTheRowsThatTheyLeadTo(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(jobsOf(120, fairlead.Job{Kind: "noop"})...)
	r.enqueue(jobsOf(3, fairlead.Job{Kind: "noop", Tenant: "acme", NotBefore: time.Now().Add(time.Hour)})...)
	r.enqueue(jobsOf(4, fairlead.Job{Kind: "other", Tenant: "acme", Queue: "q", ConcurrencyKey: "gate"})...)
	all := 1 + len(jobStates)
	for _, c := range []struct {
		path, want string
		counts     int
	}{
		{"/jobs", "127", all},
		{"/jobs?tenant=acme", "7", all},
		{"/jobs?queue=q", "4", all},
		{"/jobs?state=ready&queue=q", "1", all},
		{"/jobs?kind=other", "3", all},
		{"/jobs?queue=q&tenant=nobodys", "0", all},
		{"/jobs?kind=other&state=parked", "3", all},
	} {
		if counts, _ := r.countsHold(c.path); counts != c.counts {
			t.Errorf("%s has %d counts, want %d", c.path, counts, c.counts)
		}
		r.shows(r.page(http.StatusOK, c.path), `data-count="`+c.want+`"`)
	}
}

func TestTheOldestWaitLeadsToTheJobsThatWait(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "noop", Queue: "mail", Tenant: "acme", StartBy: time.Now().Add(-time.Hour)})
	for path, jobs := range map[string]string{"/": "state=ready", "/queues": "queue=mail&state=ready", "/tenants": "state=ready&tenant=acme", "/tenants/acme": "state=ready&tenant=acme"} {
		r.shows(html.UnescapeString(r.page(http.StatusOK, path)), `<a href="/jobs?`+jobs+`">1h`)
		if ids := r.listed("/jobs?" + jobs); len(ids) != 1 {
			t.Errorf("%s leads to the jobs %v", path, ids)
		}
	}
}

func TestACountThatStoppedLeadsToAListThatStopsThere(t *testing.T) {
	r := newRig(t, false, nil)
	ended := jobsOf(2*tabCount+20, fairlead.Job{Kind: "noop"})
	r.enqueue(ended...)
	for _, job := range ended {
		if err := r.jobs.Cancel(t.Context(), job.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	r.enqueue(jobsOf(2*tabCount+1, fairlead.Job{Kind: "noop"})...)
	r.enqueue(jobsOf(7, fairlead.Job{Kind: "noop", NotBefore: time.Now().Add(time.Hour)})...)
	for path, want := range map[string]int{"/jobs": 1, "/jobs?kind=noop": 1, "/jobs?kind=noop&from=2020-01-01T00:00:00Z": 2} { // live jobs of a kind are counted in full
		if _, stopped := r.countsHold(path); stopped != want {
			t.Errorf("%s: %d counts stopped, want %d", path, stopped, want)
		}
	}
	r.shows(r.page(http.StatusOK, "/jobs"), `state=scheduled" data-count="7">`)
	r.shows(r.page(http.StatusOK, "/jobs?kind=noop"), `state=ready" data-count="1001">`, `state=cancelled" data-count="500" data-more>`)
	r.shows(r.page(http.StatusOK, "/jobs?at_most=10"), "This list is incomplete.")
	if rows := r.listed("/jobs?at_most=70"); len(rows) != 70 {
		t.Errorf("a list of at most 70 jobs has %d", len(rows))
	}
}

func TestAnErrorIsLookedForWindowByWindow(t *testing.T) {
	r := newRig(t, false, nil)
	jobs := jobsOf(2*windowJobs*windowsOfPage, fairlead.Job{Kind: "noop"})
	r.enqueue(jobs...)
	last := len(jobs) - 1
	found := []int{last - windowJobs*windowsOfPage - 5, last - windowJobs - 5, last - 3} // on the second page, and in two windows of the first
	for _, i := range found {
		if err := r.jobs.Cancel(t.Context(), jobs[i].ID, fmt.Sprintf("Order %d was lost", i)); err != nil {
			t.Fatal(err)
		}
	}
	first := r.page(http.StatusOK, fmt.Sprintf("/jobs?text=order+%d", found[1]))
	r.shows(first, fmt.Sprintf(`id="job-%d"`, jobs[found[1]].ID), fmt.Sprintf("jobs #%d to #%d", jobs[last-2*windowJobs+1].ID, jobs[last].ID), "Older jobs are on the next page.")
	r.hides(first, "data-count")
	want := []string{fmt.Sprint(jobs[found[2]].ID), fmt.Sprint(jobs[found[1]].ID), fmt.Sprint(jobs[found[0]].ID)}
	if got := r.listed("/jobs?like=Order+N+was+lost"); !slices.Equal(got, want) {
		t.Errorf("%v have such an error, want %v", got, want)
	}
	if got := r.listed("/jobs?text=WAS+LOST&like=Order+N+was+lost&at_most=1"); !slices.Equal(got, want[:1]) {
		t.Errorf("at most one of them is %v, want %v", got, want[:1])
	}
	edge := jobs[last-windowJobs*windowsOfPage+1].ID
	r.shows(r.page(http.StatusOK, fmt.Sprintf("/jobs?text=order+%d", found[0])), `id="search"`, fmt.Sprintf("Nothing found down to job #%d. The newest job is #%d.", edge, jobs[last].ID), "Continue the search")
	if got := r.searched(fmt.Sprintf("/jobs?text=order+%d", found[0])); !slices.Equal(got, want[2:]) {
		t.Errorf("the search leads to %v, want %v", got, want[2:])
	}
	r.shows(r.page(http.StatusOK, "/jobs?text=nowhere&page="), "Searching…")
	if got := r.listed("/jobs?text=nowhere"); len(got) != 0 {
		t.Errorf("%v are found", got)
	}
}

var searchHref = regexp.MustCompile(`data-search="([^"]*)"`)

// searched goes on with a search as the page does by itself, and returns the rows of the page on
// which it ends.
func (r *rig) searched(path string) (ids []string) {
	r.Helper()
	for pages := 0; ; pages++ {
		if pages > 100 {
			r.Fatalf("the search of %s has no end", path)
		}
		page := r.page(http.StatusOK, path)
		next := searchHref.FindStringSubmatch(page)
		if next == nil {
			for _, row := range listRow.FindAllStringSubmatch(page, -1) {
				ids = append(ids, row[1])
			}
			return ids
		}
		path = html.UnescapeString(next[1])
	}
}

func TestAGroupOfFailuresLeadsToExactlyItsJobs(t *testing.T) {
	r := newRig(t, false, failing())
	r.enqueue(jobsOf(200, fairlead.Job{Kind: "bill", Tenant: "acme"})...)
	r.enqueue(jobsOf(200, fairlead.Job{Kind: "mail", Tenant: "globex", Queue: "post"})...)
	r.enqueue(jobsOf(5, fairlead.Job{Kind: "noop"})...)
	r.enqueue(jobsOf(150, fairlead.Job{Kind: "bill", Tenant: "globex"})...)
	r.run()
	r.await(555)
	page := r.page(http.StatusOK, "/failures")
	r.shows(page, "order N is unknown", "the card was refused", "more of it &lt;b&gt;", "550 failed jobs since:", `href="/tenants/acme"`)
	r.hides(page, "data-next")
	for path, want := range map[string]int{"/failures": 3, "/failures?kind=bill": 2, "/failures?tenant=globex&queue=post": 1, "/failures?finished_from=2020-01-01T00:00:00Z": 3} {
		if counts, _ := r.countsHold(path); counts != want {
			t.Errorf("%s has %d groups, want %d", path, counts, want)
		}
	}
	r.shows(r.page(http.StatusOK, "/failures?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"), "0 jobs failed in this period.", "No matching failures")
	r.shows(r.page(http.StatusOK, "/failures?kind=noop"), "No matching failures")
}

func TestListsTeachWhenThereIsNothing(t *testing.T) {
	r := newRig(t, false, nil)
	r.shows(r.page(http.StatusOK, "/jobs"), "No jobs yet", "fairlead job enqueue http")
	r.shows(r.page(http.StatusOK, "/jobs?kind=none"), "No matching jobs")
	r.shows(r.page(http.StatusOK, "/failures"), "No failures", "fairlead job enqueue http")
	r.shows(r.page(http.StatusOK, "/runs"), "No runs", "fairlead job enqueue http")
	r.shows(r.page(http.StatusOK, "/jobs", "lang", "zh"), "还没有作业")
}

func TestParametersThatCannotBeReadAreNamed(t *testing.T) {
	r := newRig(t, false, nil)
	for path, want := range map[string]string{
		"/jobs?state=done":                    "state: must be one of scheduled",
		"/jobs?from=yesterday":                "from: must be a time such as 2026-01-31T12:00:00Z",
		"/jobs?batch=x":                       "batch: must be a number above 0",
		"/jobs?batch=1&schedule=1":            "batch: cannot be combined",
		"/jobs?at_most=0":                     "at_most: must be a number above 0",
		"/jobs?colour=red":                    "colour: is not a parameter of this page",
		"/jobs?page=xyz":                      "page: is not a valid page token",
		"/jobs/1?colour=red":                  "colour: is not a parameter of this page",
		"/failures?finished_from=1":           "from: must be a time",
		"/failures?from=2100-01-01":           "from: must be in the past",
		"/failures?state=ready":               "state: is not a parameter of this page",
		"/runs?by=colour":                     "by: must be one of queue, tenant, node, schedule",
		"/runs?last=2h":                       "last: must be one of",
		"/runs?from=2026-01-01&to=2026-01-01": "to: must be at least 10ms after from",
		"/runs?from=2020-01-01&to=2026-01-01": "from: must be at most 366 days",
	} {
		r.shows(html.UnescapeString(r.page(http.StatusBadRequest, path)), want)
	}
	r.page(http.StatusNotFound, "/jobs/first")
	r.page(http.StatusNotFound, "/jobs/4711")
}

func TestAViewerBoundToATenantSeesNothingOfOthers(t *testing.T) {
	r := newRig(t, true, failing())
	own, others := &fairlead.Job{Kind: "mail", Tenant: "acme"}, &fairlead.Job{Kind: "bill", Tenant: "globex"}
	r.enqueue(own, others)
	r.run()
	r.await(2)
	bound := []string{sessionCookie, r.token("ada", access.RoleViewer, "acme")}
	for _, path := range []string{"/jobs", "/failures", "/runs", "/runs?by=node", "/runs?by=schedule", "/jobs/" + fmt.Sprint(own.ID)} {
		page := r.page(http.StatusOK, path, bound...)
		r.shows(page, "mail")
		r.hides(page, "globex", "bill", "/jobs/"+fmt.Sprint(others.ID), `href="/nodes`)
	}
	r.page(http.StatusNotFound, "/jobs/"+fmt.Sprint(others.ID), bound...)
	if counts, _ := r.countsHold("/jobs", bound...); counts != 1+len(jobStates) {
		t.Errorf("%d counts", counts)
	}
	r.hides(r.page(http.StatusNotFound, "/find?q="+fmt.Sprint(others.ID), bound...), "globex")
}

func TestAJobIsFoundByItsID(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "noop"}
	r.enqueue(job)
	for _, query := range []string{fmt.Sprint(job.ID), "%23" + fmt.Sprint(job.ID)} {
		answer := r.ask(http.MethodGet, "/find?q="+query, nil)
		if to := answer.Header.Get("Location"); !strings.HasSuffix(to, "/jobs/"+fmt.Sprint(job.ID)) {
			t.Errorf("%s leads to %q with %d", query, to, answer.StatusCode)
		}
	}
}
