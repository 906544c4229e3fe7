package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestAFormSaysWhatWouldHappenAndSavesNothing(t *testing.T) {
	kinds, over := fairlead.NewMux(), make(chan struct{})
	kinds.Handle("mail", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error {
		<-over
		return nil
	}))
	r := newRig(t, false, kinds)
	r.run()
	defer close(over) // before the node ends
	for range 20 {    // more than the node has room for
		r.enqueue(&fairlead.Job{Kind: "mail", Tenant: "acme"}, &fairlead.Job{Kind: "mail", Tenant: "globex"})
	}
	for running := int64(0); running < 4; {
		tally, err := r.jobs.TallyUpTo(t.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Running}}, 100)
		if err != nil {
			t.Fatal(err)
		}
		running = tally.Total()
	}
	page := r.send(http.StatusOK, "/new/limit", url.Values{"of": {"kind"}, "name": {"mail"}, "max_running": {"2"}, "what_if": {"true"}})
	r.shows(page, `id="foreseen"`, "Of the next 50 starts", "2 groups of jobs will start later", `name="max_running" value="2"`, `class="moved"`)
	limits, err := r.jobs.Limits(t.Context())
	if err != nil || len(limits) != 0 {
		t.Errorf("%+v, %v", limits, err)
	}
	page = r.send(http.StatusOK, "/new/tenant", url.Values{"name": {"acme"}, "weight": {"2"}, "what_if": {"true"}})
	r.shows(page, "The next 50 starts will not change.")
	if _, err := r.jobs.Tenant(t.Context(), "acme"); err == nil {
		t.Error("the tenant is declared")
	}
	r.shows(r.send(http.StatusBadRequest, "/new/limit", url.Values{"of": {"kind"}, "name": {"mail"}, "max_running": {"-2"}, "what_if": {"true"}}), `id="problem"`)
}

func TestTheFormOfAScheduleSaysWhichInstantsWouldMove(t *testing.T) {
	r := newRig(t, false, nil)
	plans := schedule.NewClient(r.store)
	if _, err := plans.PutCalendar(t.Context(), schedule.Calendar{Name: "holidays", Dates: []string{"12-25"}}); err != nil {
		t.Fatal(err)
	}
	stored, err := plans.Put(t.Context(), schedule.Schedule{Name: "nightly", Cron: "0 3 * * *", Calendar: "holidays", Job: fairlead.Job{Kind: "noop"}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/schedules/" + text(stored.ID) + "/edit"
	form := r.opened(path)
	form.Set("cron", "0 4 * * *")
	form.Set("way", "cron")
	form.Set("what_if", "true")
	r.shows(r.send(http.StatusOK, path, form), `id="foreseen"`, "of its next fires will change", "added", "removed")
	form = r.opened("/calendars/holidays/edit")
	for _, day := range weekdayNames[1:] {
		form.Set("weekday_"+day, "true")
	}
	form.Set("what_if", "true")
	r.shows(r.send(http.StatusOK, "/calendars/holidays/edit", form), `id="foreseen"`, "nightly", "removed")
	if again, err := plans.Get(t.Context(), stored.Name); err != nil || again.Version != stored.Version {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestACalendarThatCannotBeStoredIsNotDrawn(t *testing.T) {
	r := newRig(t, true, nil)
	many := url.Values{"ranges": {strings.Repeat("2026-01-01 2026-12-31\n", 6000)}}
	operator, viewer := r.token("worker on plans", access.RoleOperator), r.token("reader", access.RoleViewer)
	r.shows(r.send(http.StatusOK, "/new/calendar/effect", many, sessionCookie, operator), "dates: has 6000 entries, including ranges; at most 5000 are allowed")
	r.shows(r.send(http.StatusOK, "/new/calendar/effect", url.Values{}, sessionCookie, viewer), "Your role (viewer)")
}
