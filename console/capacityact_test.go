package console

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// send sends a form, which must be answered with the status, and returns the answer.
func (r *rig) send(status int, path string, form url.Values, cookies ...string) string {
	r.Helper()
	answer := r.ask(http.MethodPost, path, form, cookies...)
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		r.Fatalf("%s: %d, %v: %s", path, answer.StatusCode, err, body)
	}
	return string(body)
}

// opened returns the values that a form sends without any input.
func (r *rig) opened(path string) url.Values {
	r.Helper()
	form := url.Values{}
	page := r.page(http.StatusOK, path)
	for _, input := range regexp.MustCompile(`<input [^>]*name="([^"]*)"[^>]*value="([^"]*)"|<input [^>]*value="([^"]*)"[^>]*name="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Set(input[1]+input[4], input[2]+input[3])
	}
	for _, area := range regexp.MustCompile(`(?s)<textarea name="([^"]*)"[^>]*>(.*?)</textarea>`).FindAllStringSubmatch(page, -1) {
		form.Set(area[1], area[2])
	}
	return form
}

func TestQueuesKindsAndTenantsArePausedAndGoOn(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "noop", Queue: "mail/fast", Tenant: "acme"}, &fairlead.Job{Kind: "noop", Queue: "mail/fast", Tenant: "acme"})
	for _, what := range []struct{ path, list string }{{"/queues/mail%2Ffast", "/queues"}, {"/kinds/noop", "/queues"}, {"/tenants/acme", "/tenants/acme"}} {
		r.shows(r.page(http.StatusOK, what.path+"/pause"), "2 are ready now")
		r.send(http.StatusSeeOther, what.path+"/pause", url.Values{})
		r.shows(r.page(http.StatusOK, what.list), what.path+"/resume?next=", "paused")
		r.send(http.StatusSeeOther, what.path+"/resume", url.Values{})
		r.hides(r.page(http.StatusOK, what.list), what.path+"/resume?next=")
	}
}

func TestTheReasonForAPauseIsShownWithIt(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "noop", Queue: "mail", Tenant: "acme"}
	r.enqueue(job)
	why := "/jobs/" + text(job.ID)
	for _, what := range []struct{ path, list, reason string }{
		{"/queues/mail", "/queues", "faulty <release>"}, {"/kinds/noop", "/queues", "storage migration"}, {"/tenants/acme", "/tenants/acme", "unpaid invoices"},
	} {
		form := r.opened(what.path + "/pause")
		form.Set("reason", what.reason)
		r.send(http.StatusSeeOther, what.path+"/pause", form)
		shown := html.EscapeString(what.reason)
		for _, page := range []string{what.list, "/", why} {
			r.shows(r.page(http.StatusOK, page), shown)
		}
		r.send(http.StatusSeeOther, what.path+"/resume", url.Values{})
		r.hides(r.page(http.StatusOK, what.list), shown)
	}
	r.send(http.StatusSeeOther, "/tenants/acme/pause", url.Values{"reason": {"unpaid invoices"}})
	r.shows(r.page(http.StatusOK, "/tenants"), "unpaid invoices")
	r.shows(r.send(http.StatusBadRequest, "/queues/mail/pause", url.Values{"reason": {strings.Repeat("x", 1001)}}), `id="problem"`)
}

func TestTheSecondOfTwoWhoEditATenantIsTold(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"acme"}, "max_running": {"5"}, "labels": {"tier=gold\nregion = eu"}})
	first, second := r.opened("/tenants/acme/edit"), r.opened("/tenants/acme/edit")
	first.Set("max_running", "9")
	r.send(http.StatusSeeOther, "/tenants/acme/edit", first)
	second.Set("rate", "2.5")
	r.shows(r.send(http.StatusConflict, "/tenants/acme/edit", second), "Changed by someone else. The current value is 9.", `name="rate" value="2.5"`)
	again := r.opened("/tenants/acme/edit") // as the form that is shown again has it
	again.Set("rate", "2.5")
	r.send(http.StatusSeeOther, "/tenants/acme/edit", again)
	tenant, err := r.jobs.Tenant(t.Context(), "acme")
	if err != nil || tenant.MaxRunning != 9 || tenant.Rate != 2.5 || tenant.Labels["region"] != "eu" {
		t.Errorf("%+v, %v", tenant, err)
	}
}

func TestATenantWithWorkIsRemovedOnlyWithItsJobs(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"acme"}})
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "acme"})
	r.shows(r.page(http.StatusOK, "/tenants/acme/delete"), "The tenant has 1 unfinished job.")
	r.shows(r.send(http.StatusConflict, "/tenants/acme/delete", url.Values{}), `id="problem"`)
	r.send(http.StatusSeeOther, "/tenants/acme/delete", url.Values{"force": {"true"}})
	if _, err := r.jobs.Tenant(t.Context(), "acme"); err == nil {
		t.Error("the tenant is still declared")
	}
}

func TestTheSecondOfTwoWhoEditALimitIsTold(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/limit", url.Values{"of": {"kind"}, "name": {"noop"}, "max_running": {"5"}})
	first, second := r.opened("/limits/kind:noop/edit"), r.opened("/limits/kind:noop/edit")
	first.Set("max_running", "9")
	r.send(http.StatusSeeOther, "/limits/kind:noop/edit", first)
	second.Set("rate", "3")
	r.shows(r.send(http.StatusConflict, "/limits/kind:noop/edit", second), "This was changed after you opened the form", "Changed by someone else. The current value is 9.")
	r.shows(r.send(http.StatusBadRequest, "/new/limit", url.Values{"of": {"queue"}, "name": {"x"}, "rate": {"fast"}}), "rate: must be a number", `value="fast"`)
	r.send(http.StatusSeeOther, "/limits/kind:noop/remove", url.Values{})
	limits, err := r.jobs.Limits(t.Context())
	if err != nil || len(limits) != 0 {
		t.Errorf("%+v, %v", limits, err)
	}
}

func TestASecretIsShownOnceAndIsInNoCookie(t *testing.T) {
	r := newRig(t, false, nil)
	answer := r.ask(http.MethodPost, "/new/token", url.Values{"name": {"robot"}, "role": {"submitter"}, "tenants": {"acme, globex"}})
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || len(answer.Cookies()) > 0 {
		t.Fatalf("%d, %v, %v: %s", answer.StatusCode, err, answer.Cookies(), body)
	}
	secret := regexp.MustCompile(`<code id="secret">([^<]+)</code>`).FindStringSubmatch(string(body))
	if secret == nil {
		t.Fatalf("no secret is shown: %s", body)
	}
	tokens, err := r.store.Tokens(t.Context())
	if err != nil || len(tokens) != 1 || tokens[0].Role != access.RoleSubmitter || strings.Join(tokens[0].Tenants, " ") != "acme globex" {
		t.Fatalf("%+v, %v", tokens, err)
	}
	r.hides(r.page(http.StatusOK, "/tokens"), secret[1])
	r.send(http.StatusOK, "/new/token", url.Values{"name": {"mailer"}, "role": {"worker"}, "kinds": {"mail, news"}, "queues": {"slow"}})
	r.shows(r.page(http.StatusOK, "/tokens"), "mail, news", "slow")
	r.shows(r.send(http.StatusBadRequest, "/new/token", url.Values{"name": {"x"}, "role": {"viewer"}, "kinds": {"mail"}}), "kinds", "does not apply to a token with the role viewer")
	if made, err := r.store.Tokens(t.Context()); err != nil || strings.Join(made[1].Kinds, " ") != "mail news" || strings.Join(made[1].Queues, " ") != "slow" {
		t.Errorf("%+v, %v", made, err)
	} else if err := r.store.DeleteToken(t.Context(), made[1].ID); err != nil {
		t.Error(err)
	}
	r.send(http.StatusSeeOther, "/tokens/"+text(tokens[0].ID)+"/delete", url.Values{})
	if tokens, err = r.store.Tokens(t.Context()); err != nil || len(tokens) != 0 {
		t.Errorf("%+v, %v", tokens, err)
	}
}

func TestANodeIsDrainedAndGoesOn(t *testing.T) {
	r := newRig(t, false, nil)
	r.run()
	nodes := func() []fairlead.Node {
		t.Helper()
		nodes, err := r.jobs.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return nodes
	}
	for len(nodes()) == 0 {
		r.page(http.StatusOK, "/nodes")
	}
	path := "/nodes/" + text(int64(nodes()[0].ID))
	r.send(http.StatusSeeOther, path+"/drain", url.Values{})
	r.shows(r.page(http.StatusOK, "/nodes"), path+"/undrain?next=")
	r.send(http.StatusSeeOther, path+"/undrain", url.Values{})
	r.shows(r.page(http.StatusOK, "/nodes"), path+"/drain?next=")
	r.shows(r.page(http.StatusNotFound, "/nodes/4711/drain"), "This node no longer exists.")
}

func TestSavingATenantDoesNotLetAPausedOneGoOn(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"acme"}})
	form := r.opened("/tenants/acme/edit")
	r.send(http.StatusSeeOther, "/tenants/acme/pause", url.Values{}) // meanwhile, by another
	form.Set("labels", "tier=gold")
	r.send(http.StatusConflict, "/tenants/acme/edit", form)
	form = r.opened("/tenants/acme/edit")
	form.Set("labels", "tier=gold")
	r.send(http.StatusSeeOther, "/tenants/acme/edit", form)
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "globex"})
	r.send(http.StatusSeeOther, "/tenants/globex/pause", url.Values{})
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"globex"}})
	pauses, err := r.jobs.Pauses(t.Context())
	if err != nil || len(pauses) != 2 {
		t.Errorf("paused are %v, %v", pauses, err)
	}
}

func TestANewLimitBeginsEmptyAndOneThatChangedIsNotRemoved(t *testing.T) {
	r := newRig(t, false, nil)
	if err := r.jobs.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 4711}); err != nil {
		t.Fatal(err)
	}
	r.hides(r.page(http.StatusOK, "/new/limit"), "4711")
	form := r.opened("/limits/global/remove")
	if err := r.jobs.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 9}); err != nil {
		t.Fatal(err)
	}
	r.shows(r.send(http.StatusConflict, "/limits/global/remove", form), "Changed by someone else. The current value is 9.")
}

// TestATenantWhoseJobsHaveEndedHasAPage covers an undeclared tenant, to whose page its jobs
// link.
func TestATenantWhoseJobsHaveEndedHasAPage(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "noop", Tenant: "past"}
	r.enqueue(job)
	r.send(http.StatusSeeOther, "/jobs/"+text(job.ID)+"/cancel", url.Values{})
	r.shows(r.page(http.StatusOK, "/jobs/"+text(job.ID)), `href="/tenants/past"`)
	r.shows(r.page(http.StatusOK, "/tenants/past"), "<h1>past</h1>")
	r.page(http.StatusNotFound, "/tenants/unknown")
}
