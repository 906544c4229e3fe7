package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// revertLink returns the link that reverts the newest change with an action.
func (r *rig) revertLink(action string) string {
	r.Helper()
	link := regexp.MustCompile(`href="([^"]*[?&;]revert=[^"]*)"`).FindStringSubmatch(r.page(http.StatusOK, "/audit?action="+action))
	if link == nil {
		r.Fatalf("no button reverts %s", action)
	}
	return html.UnescapeString(link[1])
}

// reverted opens the form that reverts the newest change with an action, and returns its
// values and its path.
func (r *rig) reverted(action string) (form url.Values, path string) {
	r.Helper()
	to := r.revertLink(action)
	r.shows(r.page(http.StatusOK, to), "The fields contain the former values from the audit log.")
	path, _, _ = strings.Cut(to, "?")
	return r.opened(to), path
}

func TestAChangeIsRevertedInTheFormThatMadeIt(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"acme"}, "max_running": {"5"}, "labels": {"tier=gold"}})
	edit := r.opened("/tenants/acme/edit")
	edit.Set("max_running", "9")
	edit.Set("labels", "")
	r.send(http.StatusSeeOther, "/tenants/acme/edit", edit)
	form, path := r.reverted("UpdateTenant")
	r.send(http.StatusSeeOther, path, form)
	if tenant, err := r.jobs.Tenant(t.Context(), "acme"); err != nil || tenant.MaxRunning != 5 || tenant.Labels["tier"] != "gold" {
		t.Errorf("%+v, %v", tenant, err)
	}
	r.send(http.StatusSeeOther, "/tenants/acme/delete", url.Values{})
	form, path = r.reverted("DeleteTenant")
	r.send(http.StatusSeeOther, path, form)
	if tenant, err := r.jobs.Tenant(t.Context(), "acme"); err != nil || tenant.MaxRunning != 5 {
		t.Errorf("%+v, %v", tenant, err)
	}

	r.send(http.StatusSeeOther, "/limits/queue:mail/edit", url.Values{"max_running": {"3"}})
	edit = r.opened("/limits/queue:mail/edit")
	edit.Set("max_running", "")
	edit.Set("rate", "2.5")
	r.send(http.StatusSeeOther, "/limits/queue:mail/edit", edit)
	form, path = r.reverted("SetLimit")
	r.send(http.StatusSeeOther, path, form)
	limits, err := r.jobs.Limits(t.Context())
	if err != nil || len(limits) != 2 || limits[0].MaxRunning != 3 || limits[0].Rate != 0 {
		t.Errorf("%+v, %v", limits, err)
	}
	r.hides(r.page(http.StatusOK, "/audit?action=CreateTenant"), ">Revert<")
}

func TestACalendarIsReverted(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/calendar", url.Values{"name": {"days"}, "weekday_sunday": {"true"}, "dates": {"12-25"}})
	edit := r.opened("/calendars/days/edit")
	edit.Del("weekday_sunday")
	edit.Set("weekday_monday", "true")
	edit.Set("dates", "")
	r.send(http.StatusSeeOther, "/calendars/days/edit", edit)
	_, path := r.reverted("UpdateCalendar")
	if path != "/calendars/days/edit" {
		t.Errorf("the form is %s", path)
	}
	page := r.page(http.StatusOK, r.revertLink("UpdateCalendar"))
	r.shows(page, `hx-trigger="load, input from:`)
	r.shows(page, `name="weekday_sunday" value="true" checked`, `>12-25</textarea>`)
	r.hides(page, `name="weekday_monday" value="true" checked`)
	r.send(http.StatusSeeOther, "/calendars/days/delete", r.opened("/calendars/days/delete"))
	form, path := r.reverted("DeleteCalendar")
	if path != "/new/calendar" || form.Get("name") != "days" {
		t.Errorf("the form is %s with %v", path, form)
	}
}

func TestARevertedScheduleKeepsItsArguments(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/schedule", url.Values{"name": {"nightly"}, "way": {"daily"}, "daily": {"03:00"}, "timezone": {"UTC"}, "work": {"kind"}, "kind": {"noop"}, "args": {`{"n":1}`}, "enabled": {"true"}})
	edit := r.opened("/schedules/1/edit")
	edit.Set("way", "daily")
	edit.Set("work", "kind")
	edit.Set("daily", "04:00")
	edit.Set("args", `{"n":2}`)
	r.send(http.StatusSeeOther, "/schedules/1/edit", edit)
	form, path := r.reverted("UpdateSchedule")
	if path != "/schedules/1/edit" || form.Get("daily") != "03:00" || !strings.Contains(html.UnescapeString(form.Get("args")), "2") {
		t.Errorf("the form is %s with %v", path, form)
	}
	r.send(http.StatusSeeOther, "/schedules/1/delete", r.opened("/schedules/1/delete"))
	r.shows(r.page(http.StatusOK, "/audit?action=DeleteSchedule"), "Cannot be reverted: the audit log does not contain the job&#39;s arguments.")
}

func TestAFormRevertsOnlyItsOwnObject(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"acme"}, "max_running": {"5"}})
	edit := r.opened("/tenants/acme/edit")
	edit.Set("max_running", "9")
	r.send(http.StatusSeeOther, "/tenants/acme/edit", edit)
	_, query, _ := strings.Cut(r.revertLink("UpdateTenant"), "?")
	r.shows(r.page(http.StatusBadRequest, "/tenants/zeta/edit?"+query), "must be an entry of the audit log that this form can revert")
}
