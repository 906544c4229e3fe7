package console

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

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
	r.started(4)
	page := r.send(http.StatusOK, "/new/limit", url.Values{"of": {"kind"}, "name": {"mail"}, "max_running": {"2"}, "what_if": {"true"}})
	r.shows(page, `id="foreseen"`, "Of the next 50 starts", "2 groups of jobs will start later", `autofocus`, `name="max_running" value="2"`, `class="moved"`)
	limits, err := r.jobs.Limits(t.Context())
	if err != nil || len(limits) != 0 {
		t.Errorf("%+v, %v", limits, err)
	}
	r.comesFirst(page, `id="foreseen"`, `name="max_running"`)
	r.shows(html.UnescapeString(page), " of 2 slots are taken.")
	slow := r.send(http.StatusOK, "/new/limit", url.Values{"of": {"kind"}, "name": {"mail"}, "rate": {"0.001"}, "burst": {"1"}, "what_if": {"true"}})
	r.shows(slow, "Steady state of kind:mail", "none finished in the last hour", "Utilization: unlimited now, 1111 % after saving.", "The backlog would grow.", `id="foreseen-token"`, "no rate delays it")
	page = r.send(http.StatusOK, "/new/tenant", url.Values{"name": {"acme"}, "weight": {"2"}, "what_if": {"true"}})
	r.shows(page, "The next 50 starts will not change.")
	if _, err := r.jobs.Tenant(t.Context(), "acme"); err == nil {
		t.Error("the tenant is declared")
	}
	r.shows(r.send(http.StatusBadRequest, "/new/limit", url.Values{"of": {"kind"}, "name": {"mail"}, "max_running": {"-2"}, "what_if": {"true"}}), `id="problem"`)
}

func TestAPreviewSaysWhatHoldsJobsThatDoNotStartEitherWay(t *testing.T) {
	r := newRig(t, false, nil)
	if _, err := r.store.Join(t.Context(), fairlead.Node{Name: "elsewhere", Kinds: []string{"noop"}, Slots: 1}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := r.jobs.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 0.0001, Burst: 1}); err != nil {
		t.Fatal(err)
	}
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "acme", Priority: 1}, &fairlead.Job{Kind: "noop", Tenant: "globex"})
	if err := r.jobs.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "noop", MaxRunning: 1}); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(r.send(http.StatusOK, "/limits/kind:noop/remove", url.Values{"what_if": {"true"}}))
	r.shows(page, "fewer obstacles", `No longer: Kind "noop": 1 of 1 slots are taken.`, "The cluster: no more jobs can start at this rate")
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
	foreseen := r.send(http.StatusOK, path, form)
	r.shows(foreseen, `id="foreseen"`, "of its next fires will change", "added", "removed")
	r.comesFirst(foreseen, `id="foreseen"`, `name="cron"`)
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

func TestWhatIfAndWaitReasonsAreReachedFromEveryScope(t *testing.T) {
	r := newRig(t, true, nil)
	viewer, operator := r.token("reader", access.RoleViewer), r.token("operator", access.RoleOperator)
	r.joined(fairlead.Node{Name: "one", Kinds: []string{"noop"}, Slots: 1})
	r.enqueue(&fairlead.Job{Kind: "noop", Queue: "let/ters", Tenant: "acme"})
	if err := r.jobs.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "noop", MaxRunning: 7}); err != nil {
		t.Fatal(err)
	}
	for path, ways := range map[string][]string{
		"/":             {`href="/holds"`, `href="/limits/global/what-if?`},
		"/queues":       {`href="/holds?queue=let%2Fters"`, `href="/limits/queue:let%2Fters/what-if?`, `href="/holds?kind=noop"`, `href="/limits/kind:noop/what-if?`},
		"/tenants":      {`href="/holds?kind=noop"`, `href="/limits/kind:noop/what-if?`},
		"/tenants/acme": {`href="/holds?tenant=acme"`, `href="/tenants/acme/what-if?`},
	} {
		r.shows(r.page(http.StatusOK, path, sessionCookie, viewer), ways...)
	}
	const save = `name="save"`
	path := "/limits/queue:let%2Fters/what-if"
	r.hides(r.page(http.StatusOK, path, sessionCookie, viewer), save)
	r.shows(r.page(http.StatusOK, path, sessionCookie, operator), save, "queue:let/ters")
	slow := url.Values{"rate": {"0.0001"}, "burst": {"1"}}
	r.shows(r.send(http.StatusOK, path, slow, sessionCookie, viewer), `id="foreseen"`, "Steady state of queue:let/ters", `value="0.0001"`)
	r.shows(r.send(http.StatusOK, "/tenants/acme/what-if", url.Values{"max_running": {"3"}}, sessionCookie, viewer), "The next 50 starts will not change.")
	slow.Set("save", "true")
	r.send(http.StatusForbidden, path, slow, sessionCookie, viewer)
	if limits, err := r.jobs.Limits(t.Context()); err != nil || len(limits) != 1 {
		t.Fatalf("%+v, %v", limits, err)
	}
	r.send(http.StatusSeeOther, path, slow, sessionCookie, operator)
	if limits, err := r.jobs.Limits(t.Context()); err != nil || len(limits) != 2 {
		t.Errorf("%+v, %v", limits, err)
	}
}

// comesFirst fails unless one text stands before another.
func (r *rig) comesFirst(page, first, second string) {
	r.Helper()
	a, b := strings.Index(page, first), strings.Index(page, second)
	if a < 0 || b < 0 || a > b {
		r.Errorf("%s is at %d and %s at %d", first, a, second, b)
	}
}

// started waits until so many jobs run.
func (r *rig) started(n int64) {
	r.Helper()
	r.until("jobs run", func() bool {
		tally, err := r.jobs.TallyUpTo(r.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Running}}, 100)
		if err != nil {
			r.Fatal(err)
		}
		return tally.Total() >= n
	})
}
