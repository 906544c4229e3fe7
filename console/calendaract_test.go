package console

import (
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

func TestACalendarIsMadeEditedAndDeleted(t *testing.T) {
	r := newPlanner(t, false)
	r.shows(r.page(200, "/calendars"), `href="/new/calendar?next=`)
	form := filled(r.page(200, "/new/calendar"))
	for name, value := range map[string]string{"name": "feast/days", "weekday_sunday": "true", "dates": "12-25\r\n2027-05-01", "ranges": "2027-12-27 – 2028-01-02"} {
		form.Set(name, value)
	}
	if _, to := r.sends(303, "/new/calendar", form); to != "/calendars/feast%2Fdays" {
		t.Errorf("it leads to %s", to)
	}
	path := "/calendars/feast%2Fdays"
	r.shows(r.page(200, path+"?year=2027"), "2027-12-25\n12-25 of every year", "2027-05-01\nthis date only", "2027-12-31\n2027-12-27 to 2028-01-02", `href="`+path+`/edit?next=`)
	r.schedule(`{"name":"nightly","daily":"03:00","calendar":"feast/days","job":{"kind":"noop"}}`)
	named := r.page(200, path+"/delete")
	r.shows(named, "Schedules still use this calendar", "nightly")
	r.hides(named, `id="do"`)
	r.shows(first(r.sends(409, path+"/delete", url.Values{})), `id="problem"`, "nightly")

	form = filled(r.page(200, path+"/edit"))
	for day := range strings.SplitSeq("monday tuesday wednesday thursday friday saturday", " ") {
		form.Set("weekday_"+day, "true")
	}
	form.Del("weekday_sunday")
	effect, _ := r.sends(200, path+"/edit/effect", form)
	r.shows(effect, "1 schedule uses this calendar.", "nightly", "Next fire (after saving)", "data-excluded")
	form.Set("year", "2027")
	r.shows(first(r.sends(200, path+"/edit/effect", form)), `id="year-2027"`, "2027-12-31\nevery Friday")
	form.Set("ranges", "2027-12-27")
	r.shows(first(r.sends(200, path+"/edit/effect", form)), "ranges: must contain one range per line")
	r.shows(first(r.sends(400, path+"/edit", form)), `id="problem"`, ">2027-12-27<")
	form.Set("ranges", "")
	stale := filled(r.page(200, path+"/edit"))
	r.sends(303, path+"/edit", form)
	stale.Set("description", "mine")
	page, _ := r.sends(409, path+"/edit", stale)
	r.shows(page, `value="mine"`, "Changed by someone else. The current value is nothing.")

	r.asks("DELETE", "/api/v1/schedules/nightly", "")
	r.shows(r.page(200, path+"/delete"), "The calendar will be deleted")
	r.sends(303, path+"/delete", url.Values{})
	r.page(404, path)
}

func TestACalendarThatWasChangedMeanwhileIsNotDeleted(t *testing.T) {
	r := newPlanner(t, false)
	r.asks("POST", "/api/v1/calendars", `{"name":"feast"}`)
	const path = "/calendars/feast"
	removal, edit := filled(r.page(200, path+"/delete")), filled(r.page(200, path+"/edit"))
	edit.Set("dates", "12-25")
	r.sends(303, path+"/edit", edit)
	page, _ := r.sends(409, path+"/delete", removal)
	r.shows(page, "This was changed after you opened the form")
	r.sends(303, path+"/delete", filled(page))
	r.page(404, path)
}

func TestAChangedCalendarSaysWhichFiresMove(t *testing.T) {
	r := newPlanner(t, false)
	r.asks("POST", "/api/v1/calendars", `{"name":"none"}`)
	r.schedule(`{"name":"nightly","daily":"03:00","calendar":"none","job":{"kind":"noop"}}`)
	r.schedule(`{"name":"other","daily":"03:00","job":{"kind":"noop"}}`)
	form := filled(r.page(200, "/calendars/none/edit"))
	r.hides(first(r.sends(200, "/calendars/none/edit/effect", form)), "data-moved", "other")
	form.Set("ranges", "2020-01-01 2098-12-31")
	r.shows(first(r.sends(200, "/calendars/none/edit/effect", form)), "data-moved", "nightly")
}

func TestWhoIsBoundToTenantsHasNoButtonsOfCalendars(t *testing.T) {
	r := newPlanner(t, true)
	r.asks("POST", "/api/v1/calendars", `{"name":"feast"}`)
	bound := r.as("bound", access.RoleOperator, "acme")
	bound.hides(bound.page(200, "/calendars/feast"), "/calendars/feast/edit", "/calendars/feast/delete")
	bound.sends(403, "/calendars/feast/delete", url.Values{})
}
