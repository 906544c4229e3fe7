package console

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestAllJobsOfAListAreActedOnInTheBackground(t *testing.T) {
	r := newRig(t, false, nil)
	for i := range 7 {
		r.enqueue(&fairlead.Job{Kind: "mail", Tenant: fmt.Sprint("tenant-", i%2), NotBefore: time.Now().Add(time.Hour)})
	}
	list := r.page(http.StatusOK, "/jobs?state=scheduled&tenant=tenant-0")
	link := regexp.MustCompile(`href="(/new/bulk/cancel\?filter=[^"&]*)`).FindStringSubmatch(list)
	if link == nil {
		t.Fatalf("no button cancels all: %s", list)
	}
	form := r.page(http.StatusOK, html.UnescapeString(link[1]))
	r.shows(form, `<strong id="bulk-matched">4</strong>`, "Tenant: tenant-0", "State: scheduled")
	r.shows(r.page(http.StatusOK, "/new/bulk/cancel?filter="+url.QueryEscape("kind=mail&from=2026-01-31T12:00:00.123456789Z")), "Created after: 2026-01-31 12:00:00 UTC")
	answer := r.ask(http.MethodPost, "/new/bulk/cancel", url.Values{"filter": {"state=scheduled&tenant=tenant-0"}, "reason": {"not needed"}})
	to := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d", answer.StatusCode)
	}
	r.shows(r.page(http.StatusOK, to), ">pending<", to+"/stop?next=", "not needed")
	r.run()
	for counted := int64(0); counted < 4; {
		tally, err := r.jobs.TallyUpTo(t.Context(), fairlead.Filter{Kinds: []string{"mail"}, States: []fairlead.State{fairlead.Cancelled}}, 100)
		if err != nil {
			t.Fatal(err)
		}
		counted = tally.Total()
	}
	left, err := r.jobs.TallyUpTo(t.Context(), fairlead.Filter{Kinds: []string{"mail"}, States: []fairlead.State{fairlead.Scheduled}}, 100)
	if err != nil || left.Total() != 3 {
		t.Errorf("%d are left, %v", left.Total(), err)
	}
	r.shows(r.page(http.StatusOK, "/bulks"), to)
	page, ended := r.eventually(to, `href="(/jobs\?[^"]*state=cancelled[^"]*)"[^>]*>4<`)
	r.shows(page, "Tenant: tenant-0", "State: scheduled", "Jobs that have ended since")
	r.shows(r.page(http.StatusOK, html.UnescapeString(ended)), "tenant-0")
}

// eventually reads a page until it matches a pattern, and returns the page and the pattern's
// group.
func (r *rig) eventually(path, pattern string) (page, group string) {
	r.Helper()
	r.until(pattern, func() bool {
		page = r.page(http.StatusOK, path)
		found := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if found != nil {
			group = found[1]
		}
		return found != nil
	})
	return page, group
}

func TestABulkActionOnSelectedJobsShowsHowTheyEnded(t *testing.T) {
	r := newRig(t, false, nil)
	r.run()
	job, other := &fairlead.Job{Kind: "mail", NotBefore: time.Now().Add(time.Hour)}, &fairlead.Job{Kind: "mail", NotBefore: time.Now().Add(time.Hour)}
	r.enqueue(job, other)
	to := r.ask(http.MethodPost, "/new/bulk/cancel", url.Values{"filter": {"id=" + text(job.ID)}}).Header.Get("Location")
	page, _ := r.eventually(to, `(state=cancelled)[^"]*"[^>]*>1<`)
	r.shows(page, "1 selected job")
	to = r.ask(http.MethodPost, "/new/bulk/delete", url.Values{"filter": {"id=" + text(other.ID)}}).Header.Get("Location")
	r.hides(r.page(http.StatusOK, to), "Jobs that have ended since")
}

func TestAFormOfABulkActionThatIsSentTwiceCountsOnce(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "mail", NotBefore: time.Now().Add(time.Hour)})
	sent := func() url.Values {
		form := r.page(http.StatusOK, "/new/bulk/delete?filter=kind%3Dmail")
		once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(form)
		if once == nil {
			t.Fatalf("the form has no key: %s", form)
		}
		return url.Values{"filter": {"kind=mail"}, "once": {once[1]}}
	}
	start := func(form url.Values) string {
		return r.ask(http.MethodPost, "/new/bulk/delete", form).Header.Get("Location")
	}
	form := sent()
	first, second, other := start(form), start(form), start(sent())
	if first == "" || second != first || other == first {
		t.Errorf("a form that was sent twice leads to %q and %q, another to %q", first, second, other)
	}
}

func TestABulkActionIsStopped(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "mail", NotBefore: time.Now().Add(time.Hour)})
	to := r.ask(http.MethodPost, "/new/bulk/delete", url.Values{"filter": {"kind=mail"}}).Header.Get("Location")
	r.send(http.StatusSeeOther, to+"/stop", url.Values{})
	r.shows(r.page(http.StatusOK, to), "The bulk action was asked to stop.")
}

func TestAListOfAllJobsHasNoButtonsForAll(t *testing.T) {
	r := newRig(t, false, nil)
	for path, offered := range map[string]bool{"/jobs": false, "/jobs?state=failed": true, "/jobs?kind=mail": true, "/jobs?kind=mail&text=refused": false} {
		if has := regexp.MustCompile(`id="bulk-buttons"`).MatchString(r.page(http.StatusOK, path)); has != offered {
			t.Errorf("%s has buttons: %v", path, has)
		}
	}
	r.shows(r.page(http.StatusBadRequest, "/new/bulk/delete"), "start from the jobs page")
	for _, filter := range []string{"schedule=7", "batch=5", "kind=mail&text=x", "kind=mail&at_most=1"} {
		r.shows(r.page(http.StatusBadRequest, "/new/bulk/delete?filter="+url.QueryEscape(filter)), "bulk actions do not support")
	}
}
