package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

// sends sends a form, which must be answered with the status, and returns the answer's body
// and where it leads.
func (p *planner) sends(status int, path string, form url.Values) (body, to string) {
	p.Helper()
	cookies := []string{}
	if p.secret != "" {
		cookies = append(cookies, sessionCookie, p.secret)
	}
	answer := p.ask(http.MethodPost, path, form, cookies...)
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		p.Fatalf("%s: %d, want %d, %v: %s", path, answer.StatusCode, status, err, raw)
	}
	p.fresh = nil
	return string(raw), answer.Header.Get("Location")
}

func TestEveryButtonOfAScheduleLeadsToAForm(t *testing.T) {
	for _, button := range scheduleButtons {
		if !slices.ContainsFunc(actions, func(a action) bool { return a.path == "/schedules/{id}/"+button.Name && a.method == button.Method }) {
			t.Errorf("the button %q leads nowhere", button.Name)
		}
	}
}

func TestEveryFragmentNamesAMethodOfTheAPI(t *testing.T) {
	for _, f := range fragments {
		if rolesOf()[f.method] == "" {
			t.Errorf("%s: the API has no method %s", f.path, f.method)
		}
	}
}

func TestAScheduleIsDisabledEnabledRunAndDeleted(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"nightly","cron":"0 3 * * *","max_concurrency":1,"job":{"kind":"noop"}}`)
	path := "/schedules/" + id
	r.shows(r.page(200, "/schedules"), `href="`+path+`/disable?next=`, `href="`+path+`/trigger?next=`)
	r.shows(r.page(200, path+"/disable"), "The schedule will not fire until you enable it again", "None are running.")
	r.sends(303, path+"/disable", url.Values{"reason": {"holidays"}})
	page := r.page(200, path)
	r.shows(page, "holidays", `href="`+path+`/enable?next=`)
	r.hides(page, path+"/disable")
	r.shows(r.page(200, path+"/enable"), "First fire:", "03:00:00 UTC", "Reason for disabling:", "holidays")
	r.sends(303, path+"/enable", url.Values{})
	r.shows(r.page(200, path), `href="`+path+`/disable?next=`)

	r.shows(r.page(200, path+"/trigger"), "A run will start now", "Active runs are limited to 1")
	r.shows(first(r.sends(400, path+"/trigger", url.Values{"args": {"{"}})), "args: must be a JSON document", ">{<")
	for range 3 { // one is active, two wait for it: no node runs
		r.sends(303, path+"/trigger", url.Values{})
	}
	form := r.page(200, path+"/delete")
	r.shows(form, "2 queued runs will also be deleted.", "1 active run will continue.", `name="was.queued" value="2"`)
	seen := url.Values{"was.version": {between(form, `name="was.version" value="`)}, "was.queued": {"1"}}
	r.shows(first(r.sends(409, path+"/delete", seen)), "This was changed after you opened the form", `name="was.queued" value="2"`)
	seen.Set("was.queued", "2")
	if _, to := r.sends(303, path+"/delete", seen); to != "/schedules" {
		t.Errorf("it leads to %s", to)
	}
	r.page(404, path)
}

// first returns the first of two strings.
func first(one, _ string) string { return one }

// between returns the part of a page after a text, up to the next quote.
func between(page, before string) string {
	_, after, _ := strings.Cut(page, before)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

func TestABackfillIsMadeOnceItWasCounted(t *testing.T) {
	r := newPlanner(t, false)
	path := "/schedules/" + r.schedule(`{"name":"hourly","cron":"0 * * * *","job":{"kind":"noop"}}`)
	r.shows(r.page(200, path+"/backfill"), "24 runs will be created.", `name="counted" value="24"`)
	span := url.Values{"from": {"2026-01-01T00:30"}, "to": {"2026-01-01T04:00"}}
	r.shows(first(r.sends(200, path+"/backfill/count", span)), "3 runs will be created.", "2026-01-01T01:00:00Z", "2026-01-01T03:00:00Z", `value="3"`)
	r.shows(first(r.sends(200, path+"/backfill/count", url.Values{"from": {"soon"}, "to": {"2026-01-01"}})), "from: must be a time", `value="0"`)
	r.shows(first(r.sends(409, path+"/backfill", span)), "Check the number of runs to create", "3 runs will be created.", `value="2026-01-01T00:30"`)
	span.Set("counted", "3")
	r.sends(303, path+"/backfill", span)
	r.shows(first(r.sends(200, path+"/backfill/count", span)), "0 runs will be created.", "3 fires already have a run.", `value="0"`)
	span.Set("again", "true")
	r.shows(first(r.sends(200, path+"/backfill/count", span)), "3 runs will be created.", `value="3"`)
	if rows := r.rows(path); len(rows) != 3 {
		t.Errorf("the runs are %v", rows)
	}
}

func TestARequestIsTestedAndShown(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and <stout>"))
	}))
	defer target.Close()
	r := newPlanner(t, false)
	path := "/schedules/" + r.schedule(`{"name":"call","cron":"0 3 * * *","job":{"kind":"http","args":{"url":"`+target.URL+`/tea","headers":{"Authorization":"sesame"}}}}`)
	r.shows(r.page(200, path+"/test"), "One real request will be sent to the target now", "No job is stored")
	tested, _ := r.sends(200, path+"/test", url.Values{})
	r.shows(tested, `class="problem" id="tested"`, "status: ", "418", "status 418", "POST "+target.URL+"/tea", "short and &lt;stout&gt;", "Continue")
	r.hides(tested, "sesame")
	if jobs := r.rows("/jobs"); len(jobs) != 0 {
		t.Errorf("there are the jobs %v", jobs)
	}
}

func TestOnlyThoseWhoMayHaveTheButtonsOfASchedule(t *testing.T) {
	r := newPlanner(t, true)
	path := "/schedules/" + r.schedule(`{"name":"call","cron":"0 3 * * *","job":{"kind":"http","args":{"url":"http://127.0.0.1:1/"},"tenant":"acme"}}`)
	for role, may := range map[access.Role][]string{
		access.RoleViewer: {}, access.RoleSubmitter: {"trigger"}, access.RoleOperator: {"trigger", "test", "disable", "backfill", "delete"},
	} {
		own := r.as(string(role), role)
		page := own.page(200, path)
		for _, button := range scheduleButtons {
			if button.Name == "enable" {
				continue
			}
			has := strings.Contains(page, path+"/"+button.Name+"?next=")
			if has != slices.Contains(may, button.Name) {
				t.Errorf("a %s has the button %s: %v", role, button.Name, has)
			}
			if !has {
				own.sends(403, path+"/"+button.Name, url.Values{})
			}
		}
	}
	stranger := r.as("stranger", access.RoleOperator, "zeta")
	stranger.page(404, path+"/delete")
	stranger.shows(first(stranger.sends(200, path+"/backfill/count", url.Values{})), "not found")
}
