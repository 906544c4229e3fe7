package console

import (
	"net/url"
	"testing"

	"github.com/fairlead-io/fairlead/sweep"
)

// sweep returns the current state of a sweep.
func (r *rig) sweep(id int64) sweep.Sweep {
	r.Helper()
	s, err := sweep.NewClient(r.store).ByID(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func TestASweepIsStartedStoppedAndDeletedWithItsCounts(t *testing.T) {
	r := newMailers(t, false)
	r.create(sweep.Sweep{Name: "long", From: held - 100, To: held, InFlight: 8, Rate: 0.001})
	r.shows(r.page(200, "/sweeps/1"), `href="/sweeps/1/start?next=`, `href="/sweeps/1/set?next=`, `href="/sweeps/1/delete?next=`)
	r.shows(r.page(200, "/sweeps"), `href="/sweeps/1/start?next=`)
	r.shows(r.page(200, "/sweeps/1/start"), "100 items to process.", `name="was.state" value="created"`)
	r.post(303, "/sweeps/1/start", url.Values{"was.state": {"created"}})
	r.shows(r.page(200, "/sweeps/1"), `href="/sweeps/1/stop?next=`)
	r.shows(r.page(200, "/sweeps/1/stop"), "the sweep can process them later.", "Items in flight (at most 8)", `class="grave"`)
	r.post(303, "/sweeps/1/stop", url.Values{"reason": {"the mail server is full"}})
	r.until("it has stopped", func() bool { return r.sweep(1).State == sweep.Stopped })
	if reason := r.sweep(1).Reason; reason != "the mail server is full" {
		t.Errorf("it was stopped because %s", reason)
	}
	refused := r.post(409, "/sweeps/1/stop", url.Values{"was.state": {"running"}})
	r.shows(refused, "cannot stop sweep", "The state was running when you opened this form.")
	r.shows(r.page(200, "/sweeps/1/delete"), "The sweep will be deleted, with its log, its history")
	answer := r.ask("POST", "/sweeps/1/delete", url.Values{})
	if to := answer.Header.Get("Location"); to != "/sweeps" {
		t.Errorf("it leads to %s", to)
	}
	r.page(404, "/sweeps/1")
}

func TestFailedItemsOfASweepAreRetriedAllOrSome(t *testing.T) {
	r := newMailers(t, false)
	s := r.swept(sweep.Sweep{Name: "campaign", To: 50, Budget: sweep.Budget{Items: 1000}})
	r.shows(r.page(200, "/sweeps"), `href="/sweeps/1/retry?next=`)
	r.shows(r.page(200, "/sweeps/1/retry"), "5 failed items will be retried.")
	r.shows(r.post(400, "/sweeps/1/retry", url.Values{"indexes": {"7"}}), "indexes", "contains [7], which are not indexes of failed items", `value="7"`)
	r.post(303, "/sweeps/1/retry", url.Values{"indexes": {"10, 20"}})
	r.until("it has finished again", func() bool { now := r.sweep(s.ID); return now.Run == 2 && now.State == sweep.Finished })
	r.shows(r.page(200, "/sweeps/1/failed?like=item+N+has+no+address"), `id="items-actions"`, "/sweeps/1/retry?indexes=0%2C10%2C20%2C30%2C40&amp;next=")
	r.shows(r.page(200, "/sweeps/1/retry?indexes=10"), "1 selected item will be retried.")
	r.shows(r.page(200, "/sweeps/1/start"), "50 items will be processed from the beginning.")
	r.post(303, "/sweeps/1/start", url.Values{"was.state": {"finished"}})
	r.until("it has gone over all again", func() bool { now := r.sweep(s.ID); return now.Run == 3 && now.State == sweep.Finished })
}

func TestTheSecondOfTwoWhoChangeASweepIsShownWhatTheFirstDid(t *testing.T) {
	r := newMailers(t, false)
	r.create(sweep.Sweep{Name: "campaign", To: 50, Rate: 5, InFlight: 8, Window: 2000})
	form := r.page(200, "/sweeps/1/set")
	r.shows(form, `name="rate" value="5"`, `name="in_flight" value="8"`, `name="window" value="2000"`, `name="backoff" value="3s"`, `name="version" value="1"`)
	was := url.Values{"was.rate": {"5"}, "was.in_flight": {"8"}, "was.window": {"2000"}, "was.backoff": {"3s"}, "was.on_exhausted": {"abandon"}, "was.adaptive": {""}, "was.budget_items": {"100"}}
	sent := func(version string, changed map[string]string) url.Values {
		form := url.Values{"version": {version}}
		for name, values := range was {
			form[name], form[name[len(wasPrefix):]] = values, values
		}
		for name, value := range changed {
			form.Set(name, value)
		}
		return form
	}
	r.post(303, "/sweeps/1/set", sent("1", map[string]string{"rate": "7.5", "adaptive": "true", "backoff": "1m", "budget_percent": "2"}))
	s := r.sweep(1)
	if s.Rate != 7.5 || !s.Adaptive || s.Backoff.String() != "1m0s" || s.Budget.Percent != 2 || s.Budget.Items != 100 || s.Window != 2000 {
		t.Errorf("the sweep is %+v", s)
	}
	refused := r.post(409, "/sweeps/1/set", sent("1", map[string]string{"in_flight": "9"}))
	r.shows(refused, "was changed by another caller", "Changed by someone else. The current value is 7.5.", `name="in_flight" value="9"`, `name="rate" value="7.5"`, `name="version" value="2"`, "checked")
	if r.sweep(1).InFlight != 8 {
		t.Error("the second has changed it all the same")
	}
	r.shows(r.post(400, "/sweeps/1/set", sent("2", map[string]string{"backoff": "soon"})), "backoff: must be a duration", `value="soon"`)
}

func TestTheGateOfASweepIsOpened(t *testing.T) {
	r := newMailers(t, false)
	s := r.create(sweep.Sweep{Name: "campaign", To: 5, Gate: sweep.Gate{BeforeRun: "http://127.0.0.1:9/ask"}})
	r.shows(r.page(200, "/sweeps/1/start"), "It will wait at its gate")
	r.post(303, "/sweeps/1/start", url.Values{"was.state": {"created"}})
	r.shows(r.page(200, "/sweeps/1"), `href="/sweeps/1/open?next=`)
	r.shows(r.page(200, "/sweeps/1/open"), "without waiting for the business")
	r.post(303, "/sweeps/1/open", url.Values{})
	r.until("it has finished", func() bool { return r.sweep(s.ID).State == sweep.Finished })
}
