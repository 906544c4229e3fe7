package console

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// periodAt returns the period that a query chooses at noon.
func periodAt(t *testing.T, usual, query string) (*period, *visit, error) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{console: &Console{}, Query: values, Path: "/runs", Zone: time.UTC, Now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	p := v.parameters()
	span := p.period(usual)
	return span, v, p.err()
}

func TestAPeriodIsChosenByItsEndsOrItsLength(t *testing.T) {
	for _, test := range []struct{ usual, query, want string }{
		{"15m", "", "01-31 11:45 – 01-31 12:00, last 15m"},
		{"15m", "last=6h", "01-31 06:00 – 01-31 12:00, last 6h"},
		{"15m", "last=30d", "01-01 12:00 – 01-31 12:00, last 30d"},
		{"15m", "from=2026-01-31T11:59:00Z", "01-31 11:59 – 01-31 12:00, last "},
		{"15m", "to=2026-01-31T11:00:00Z", "01-31 10:45 – 01-31 11:00, last "},
		{"15m", "to=2026-01-31T11:00:00Z&last=1h", "01-31 10:00 – 01-31 11:00, last "},
		{"15m", "from=2026-01-31T10:00:00Z&to=2026-01-31T11:00:00Z", "01-31 10:00 – 01-31 11:00, last "},
		{"", "", "01-01 00:00 – 01-31 12:00, last "},
		{"", "last=1h", "01-31 11:00 – 01-31 12:00, last 1h"},
	} {
		got, _, err := periodAt(t, test.usual, test.query)
		if err != nil {
			t.Fatal(err)
		}
		const layout = "01-02 15:04"
		if said := fmt.Sprintf("%s – %s, last %s", got.From.Format(layout), got.To.Format(layout), got.Last); said != test.want {
			t.Errorf("%q is %s, want %s", test.query, said, test.want)
		}
	}
	for query, want := range map[string]string{
		"last=2h":                       "last: must be one of 15m, 5m, 30m",
		"from=2026-01-31&to=2026-01-31": "to: must be at least 10ms after from",
		"from=2026-02-01":               "from: must be in the past",
	} {
		if _, _, err := periodAt(t, "15m", query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", query, err, want)
		}
	}
}

func TestAPeriodHasALinkThatKeepsIt(t *testing.T) {
	rolling, _, err := periodAt(t, "15m", "last=1h")
	if err != nil || rolling.Now != "" {
		t.Fatalf("%+v, %v", rolling, err)
	}
	fixed, err := url.Parse(rolling.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	kept, _, err := periodAt(t, "15m", fixed.RawQuery)
	if err != nil || !kept.From.Equal(rolling.From) || kept.To.Before(rolling.To) || kept.Last != "" || kept.Now != "/runs?last=6h" {
		t.Errorf("%s is %+v, %v", rolling.Fixed, kept, err)
	}
}

func TestATimeWithoutAZoneMovesToAnAddressForAllViewers(t *testing.T) {
	r := newRig(t, false, nil)
	for _, path := range []string{"/runs?from=2026-01-31T12:00", "/failures?finished_from=2026-01-31T12:00"} {
		answer := r.ask(http.MethodGet, path+"&queue=mail", nil, "zone", "Asia%2FTokyo")
		to, err := answer.Location()
		if err != nil || answer.StatusCode != http.StatusSeeOther || to.Query().Get("from") != "2026-01-31T03:00:00Z" || to.Query().Get("queue") != "mail" {
			t.Errorf("%s moves to %v with %d, %v", path, to, answer.StatusCode, err)
		}
	}
}

func TestPagesAboutThePastHaveTheSameChoiceOfPeriods(t *testing.T) {
	r := newRig(t, false, nil)
	for _, path := range []string{"/", "/jobs", "/failures", "/failures/cause", "/runs", "/holds", "/audit", "/bulks"} {
		extra := "?"
		if path == "/failures/cause" {
			extra = "?kind=mail&like=no&"
		}
		for _, query := range []string{"", "last=6h", "last=30m", "from=2026-01-30T10:00:00Z&to=2026-01-31T11:00:00Z"} {
			page := r.page(http.StatusOK, path+extra+query, "zone", "Asia%2FTokyo")
			r.shows(page, `id="period"`, "last=15m", "last=1h", "last=6h", "last=24h", "last=7d", `id="period-from"`, "Time zone: Asia/Tokyo")
			if strings.HasPrefix(query, "from") {
				r.shows(page, `value="2026-01-30T19:00:00"`, `id="period-now"`)
			}
		}
	}
}

func TestAnEarlierNameOfAParameterStillWorks(t *testing.T) {
	r := newRig(t, false, nil)
	current := regexp.MustCompile(`<a class="button" href="[^"]*last=(\w+)[^"]*" aria-current="true"`)
	for _, path := range []string{"/failures/cause?kind=mail&like=no&span=7d", "/holds?last=7d", "/runs?last=7d"} {
		if found := current.FindStringSubmatch(r.page(http.StatusOK, path)); found == nil || found[1] != "7d" {
			t.Errorf("%s shows %q", path, found)
		}
	}
}

func TestLinksFromFailuresKeepThePeriod(t *testing.T) {
	kinds := fairlead.NewMux()
	kinds.Handle("bill", fairlead.HandlerOptions{MaxAttempts: 1}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return errors.New("no credit") }))
	r := newRig(t, false, kinds)
	begun := time.Now().Add(-time.Minute)
	r.enqueue(jobsOf(3, fairlead.Job{Kind: "bill"})...)
	r.run()
	r.await(3)
	ended := time.Now()
	fixed := func(from, to time.Time) string {
		return url.Values{"from": {text(from)}, "to": {text(to)}}.Encode()
	}
	causeLink := regexp.MustCompile(`href="(/failures/cause\?[^"]*)"`)
	allLink := regexp.MustCompile(`href="(/jobs\?[^"]*)">All jobs`)
	for query, says := range map[string]string{"last=1h": "3 failed jobs since:", fixed(begun, ended): "3 jobs failed in this period."} {
		page := r.page(http.StatusOK, "/failures?"+query)
		r.shows(page, says)
		if counts, _ := r.countsHold("/failures?" + query); counts != 1 {
			t.Errorf("%s has %d groups", query, counts)
		}
		link := html.UnescapeString(causeLink.FindStringSubmatch(page)[1])
		for name, values := range must(url.ParseQuery(query)) {
			if got := must(url.Parse(link)).Query().Get(name); got != values[0] {
				t.Errorf("%s leads to %s", query, link)
			}
		}
		page = r.page(http.StatusOK, link)
		r.shows(page, "<dd>3</dd>", `href="/failures?`+html.EscapeString(query), "kind=bill")
		all := html.UnescapeString(allLink.FindStringSubmatch(page)[1])
		if rows := r.listed(all); len(rows) != 3 {
			t.Errorf("%s lists %d jobs", all, len(rows))
		}
	}
	later := fixed(begun.Add(-time.Hour), begun)
	r.shows(r.page(http.StatusOK, "/failures?"+later), "0 jobs failed in this period.")
	r.shows(r.page(http.StatusOK, "/failures/cause?kind=bill&like=no+credit&"+later), "No failures with this cause")
	if rows := r.listed("/jobs?state=failed&finished_to=" + url.QueryEscape(text(begun))); len(rows) > 0 {
		t.Errorf("%d jobs finished before they began", len(rows))
	}
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}

func TestBulkActionsOfAPeriodAreListed(t *testing.T) {
	r := newRig(t, false, nil)
	request := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/api/v1/bulks", strings.NewReader(`{"action":"cancel","filter":{"kind":["noop"]}}`))
	request.Host = "localhost"
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	if r.api.ServeHTTP(answer, request); answer.Code != http.StatusOK {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	for query, shown := range map[string]bool{"": true, "?last=1h": true, "?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z": false, "?to=2020-01-02T00:00:00Z": false} {
		page := r.page(http.StatusOK, "/bulks"+query)
		if strings.Contains(page, `data-row id="bulk-`) != shown {
			t.Errorf("%q lists the bulk action: %v", query, !shown)
		}
		if !shown {
			r.shows(page, "No bulk actions in this period")
		}
	}
}
