package server_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
)

const bulks = "/api/v1/bulks"

func TestABulkIsPreviewedStoredAndAskedToStop(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	for range 3 {
		a.add(fairlead.Job{Kind: "mail"})
	}
	const wanted = `"action":"move","queue":"spare","filter":{"kind":["mail"]},"reason":"full","rate":2.5`
	preview, _ := a.send(200, "POST", bulks, `{"dry_run":true,`+wanted+`}`, operator...)
	if preview["matched"] != "3" || preview["id"] != nil || preview["state"] != nil {
		t.Errorf("the preview is %v", preview)
	}
	if listed, _ := a.send(200, "GET", bulks, "", operator...); listed["items"] != nil && len(listed["items"].([]any)) != 0 {
		t.Errorf("a preview was stored: %v", listed)
	}
	made, _ := a.send(200, "POST", bulks, `{`+wanted+`}`, operator...)
	path := bulks + "/" + made["id"].(string)
	if made["state"] != "pending" || made["matched"] != "3" || made["queue"] != "spare" || made["rate"] != 2.5 || made["reason"] != "full" {
		t.Errorf("it was stored as %v", made)
	}
	if stopped, _ := a.send(200, "POST", path+"/stop", `{}`, operator...); stopped["stopping"] != true {
		t.Errorf("it was asked to stop: %v", stopped)
	}
	if entry := a.lastEntry(); entry["action"] != "StopBulk" || entry["subject"] != "bulk:"+made["id"].(string) {
		t.Errorf("the log says %v", entry)
	}
	a.send(404, "GET", bulks+"/999999", "", operator...)
	a.send(404, "GET", bulks+"/999999/misses", "", operator...)
}

func TestABulkThatCanNeverBeDoneIsRefusedByItsField(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	for body, field := range map[string]string{
		`{"action":"explode","filter":{}}`:                              "action",
		`{"action":"cancel"}`:                                           "filter",
		`{"action":"move","filter":{}}`:                                 "queue",
		`{"action":"cancel","queue":"q","filter":{}}`:                   "queue",
		`{"action":"retry","filter":{"state":["ready"]}}`:               "filter.state",
		`{"action":"cancel","rate":-1,"filter":{}}`:                     "rate",
		`{"action":"cancel","filter":{"tenant":["` + long(300) + `"]}}`: "filter.tenant",
	} {
		for _, dry := range []string{"", `"dry_run":true,`} {
			if problem, _ := a.send(400, "POST", bulks, `{`+dry+body[1:], operator...); refusals(problem)[field] == "" {
				t.Errorf("%s is refused as %v", body, problem)
			}
		}
	}
}

func long(n int) string { return fmt.Sprintf("%0*d", n, 0) }

func TestCallersWhoAreBoundHaveTheBulksOfTheirTenants(t *testing.T) {
	a := newGuardedAPI(t)
	admin, bound := a.as(a.token(access.RoleAdmin, "")), a.as(a.token(access.RoleOperator, "acme"))
	a.add(fairlead.Job{Kind: "mail", Tenant: "acme"})
	a.add(fairlead.Job{Kind: "mail", Tenant: "zeta"})
	whole, _ := a.send(200, "POST", bulks, `{"action":"cancel","filter":{}}`, admin...)
	mixed, _ := a.send(200, "POST", bulks, `{"action":"cancel","filter":{"tenant":["acme","zeta"]}}`, admin...)
	own, _ := a.send(200, "POST", bulks, `{"action":"cancel","filter":{"kind":["mail"]}}`, bound...)
	if own["matched"] != "1" || fmt.Sprint(own["filter"].(map[string]any)["tenant"]) != "[acme]" {
		t.Errorf("what they made is about %v", own)
	}
	a.send(403, "POST", bulks, `{"action":"cancel","filter":{"tenant":["acme","zeta"]}}`, bound...)
	listed, _ := a.send(200, "GET", bulks, "", bound...)
	if items := listed["items"].([]any); len(items) != 1 || items[0].(map[string]any)["id"] != own["id"] {
		t.Errorf("they see %v", listed)
	}
	for _, other := range []map[string]any{whole, mixed} {
		path := bulks + "/" + other["id"].(string)
		a.send(404, "GET", path, "", bound...)
		a.send(404, "GET", path+"/misses", "", bound...)
		a.send(404, "POST", path+"/stop", `{}`, bound...)
	}
	page, err := bulk.NewClient(a.store).List(t.Context(), bulk.Filter{Tenants: []string{"acme"}})
	if stored := page.Bulks; err != nil || len(stored) != 1 || stored[0].Actor == "" || stored[0].Role != access.RoleOperator || stored[0].From == "" {
		t.Errorf("it acts in the name of %+v, %v", stored, err)
	}
}

func TestABulkWhoseRequestIsRepeatedWithItsKeyIsStoredOnce(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	keyed := append(slices.Clone(operator), "Idempotency-Key", "k")
	const wanted = `{"action":"cancel","filter":{"kind":["mail"]}}`
	a.send(200, "POST", bulks, `{"action":"cancel","filter":{"kind":["mail"]},"dry_run":true}`, keyed...)
	first, _ := a.send(200, "POST", bulks, wanted, keyed...)
	again, _ := a.send(200, "POST", bulks, wanted, keyed...)
	if first["id"] == nil || again["id"] != first["id"] {
		t.Errorf("it was stored as %v and as %v", first["id"], again["id"])
	}
	a.send(409, "POST", bulks, `{"action":"cancel","filter":{"kind":["fax"]}}`, keyed...)
	if other, _ := a.send(200, "POST", bulks, wanted, operator...); other["id"] == first["id"] {
		t.Errorf("without the key it is the same bulk, %v", other["id"])
	}
}

func TestAKeyShowsNoBulkToACallerWhoIsBoundOtherwiseByNow(t *testing.T) {
	a := newGuardedAPI(t)
	start := func(status int, tenants ...string) {
		secret, id := a.addToken(access.Token{Name: "ann", Role: access.RoleOperator, Tenants: tenants})
		a.send(status, "POST", bulks, `{"action":"cancel","filter":{"kind":["mail"]}}`, append(a.as(secret), "Idempotency-Key", "k")...)
		if err := a.store.DeleteToken(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	start(200, "acme", "zeta")
	start(200, "acme", "zeta")
	start(404, "acme")
}

func TestOnlyThoseWhoMayStopABulkActUponItsJob(t *testing.T) {
	a := newGuardedAPI(t)
	operator, submitter := a.as(a.token(access.RoleOperator, "")), a.as(a.token(access.RoleSubmitter, ""))
	a.add(fairlead.Job{Kind: "mail"})
	made, _ := a.send(200, "POST", bulks, `{"action":"delete","filter":{"kind":["mail"]}}`, operator...)
	job := "/api/v1/jobs/" + made["id"].(string)
	a.send(403, "POST", job+"/cancel", `{}`, submitter...)
	a.send(200, "POST", job+"/cancel", `{}`, operator...)
	for _, act := range []string{"retry", "run"} {
		a.send(403, "POST", job+"/"+act, `{}`, submitter...)
	}
	done, _ := a.send(200, "POST", "/api/v1/jobs/bulk", `{"action":"retry","filter":{"state":["cancelled"]}}`, operator...)
	if done["missed"] != "1" || done["done"] != nil && done["done"] != "0" {
		t.Errorf("of a bulk that was stopped %v go on", done)
	}
	a.send(404, "POST", "/api/v1/jobs/4711/cancel", `{}`, submitter...)
}
