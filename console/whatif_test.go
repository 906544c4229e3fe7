package console

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/fairlead-io/fairlead"
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
	r.shows(page, `id="foreseen"`, "Of the next 50 starts", "2 sorts of jobs get later", `name="max_running" value="2"`, `class="moved"`)
	limits, err := r.jobs.Limits(t.Context())
	if err != nil || len(limits) != 0 {
		t.Errorf("%+v, %v", limits, err)
	}
	page = r.send(http.StatusOK, "/new/tenant", url.Values{"name": {"acme"}, "weight": {"2"}, "what_if": {"true"}})
	r.shows(page, "The next 50 starts stay as they are.")
	if _, err := r.jobs.Tenant(t.Context(), "acme"); err == nil {
		t.Error("the tenant is declared")
	}
	r.shows(r.send(http.StatusBadRequest, "/new/limit", url.Values{"of": {"kind"}, "name": {"mail"}, "max_running": {"-2"}, "what_if": {"true"}}), `id="problem"`)
}
