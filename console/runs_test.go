package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

var ganttLink = regexp.MustCompile(`<a href="([^"]*)" draggable`)

func TestRunsAreDrawnAndLeadToTheirJobs(t *testing.T) {
	r := newRig(t, false, failing())
	begun := time.Now()
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "acme"}, &fairlead.Job{Kind: "mail", Tenant: "globex", Queue: "post"})
	r.run()
	r.await(2)
	for path, groups := range map[string][]string{
		"/runs":             {">default</text>", ">post</text>"},
		"/runs?by=tenant":   {">acme</text>", ">globex</text>"},
		"/runs?by=node":     {">here</text>"},
		"/runs?by=schedule": {">no schedule</text>"},
	} {
		page := r.page(http.StatusOK, path)
		r.shows(page, groups...)
		r.shows(page, "succeeded", "failed", "data-zoom-from=", "Drag over the chart")
		if links := ganttLink.FindAllStringSubmatch(page, -1); len(links) != 2 {
			t.Errorf("%s has %d bars, want 2", path, len(links))
		}
	}
	past := "/runs?from=" + url.QueryEscape(begun.Add(-time.Hour).UTC().Format(time.RFC3339)) + "&to=" + url.QueryEscape(begun.Add(-time.Minute).UTC().Format(time.RFC3339))
	r.shows(r.page(http.StatusOK, past), "No runs")
	r.hides(r.page(http.StatusOK, past), "Deleted jobs are missing here.")
	r.hides(r.page(http.StatusOK, "/runs?last=24h"), "Deleted jobs are missing here.")
	r.shows(r.page(http.StatusOK, "/runs?last=7d"), "Deleted jobs are missing here.")
	if links := ganttLink.FindAllStringSubmatch(r.page(http.StatusOK, "/runs?tenant=acme"), -1); len(links) != 1 || html.UnescapeString(links[0][1]) != "/jobs/1" {
		t.Errorf("bars lead to %v", links)
	}
}

func TestAChartSaysThatItDoesNotHoldAllJobs(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(jobsOf(runJobs+1, fairlead.Job{Kind: "noop"})...)
	r.run()
	r.await(runJobs + 1)
	r.shows(r.page(http.StatusOK, "/runs"), "the chart below shows the latest 500")
	r.hides(r.page(http.StatusOK, "/runs?kind=other"), "the chart below shows the latest 500")
}

func TestRunsLeadToTheJobsOfTheirPeriod(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "acme"}, &fairlead.Job{Kind: "noop", Tenant: "globex"})
	link := regexp.MustCompile(`id="runs-jobs" href="([^"]*)"`)
	for query, want := range map[string]int{"last=1h&tenant=acme": 1, "last=1h": 2, "from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z": 0} {
		to := html.UnescapeString(link.FindStringSubmatch(r.page(http.StatusOK, "/runs?"+query))[1])
		if rows := r.listed(to); len(rows) != want {
			t.Errorf("%s leads to %s with %d jobs, want %d", query, to, len(rows), want)
		}
	}
	r.shows(r.page(http.StatusOK, "/?last=6h"), `href="/runs?last=6h"`)
}
