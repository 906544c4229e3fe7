package console

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

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

func TestASpanIsChosenByItsEndsOrItsLength(t *testing.T) {
	for _, test := range []struct {
		from, to int // seconds after noon; zero: not given
		want     string
	}{
		{0, 0, "11:45:00 12:00:00 15m"},
		{-60, 0, "11:59:00 12:00:00 "},
		{0, -3600, "10:45:00 11:00:00 "},
		{-7200, -3600, "10:00:00 11:00:00 "},
	} {
		given := func(seconds int) *timestamppb.Timestamp {
			if seconds == 0 {
				return nil
			}
			return after(seconds)
		}
		r := &runs{}
		if err := (&visit{}).choose(r, given(test.from), given(test.to), "15m", noon); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.From.Format("15:04:05"), " ", r.To.Format("15:04:05"), " ", r.Rolling); got != test.want {
			t.Errorf("from %d to %d is %s, want %s", test.from, test.to, got, test.want)
		}
	}
}
