package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

func (a *guardedAPI) as(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

func TestTokensAreMadeUsedAndRemovedOverTheAPI(t *testing.T) {
	a := newGuardedAPI(t)
	admin := a.as(a.token(access.RoleAdmin, ""))
	made, _ := a.send(200, "POST", "/api/v1/tokens", `{"name":"ci","role":"submitter","tenants":["acme"]}`, admin...)
	secret := made["secret"].(string)
	who, _ := a.send(200, "GET", "/api/v1/whoami", "", a.as(secret)...)
	if who["name"] != "ci" || who["role"] != "submitter" {
		t.Errorf("its owner is %v", who)
	}
	listed, _ := a.send(200, "GET", "/api/v1/tokens", "", admin...)
	for _, item := range listed["items"].([]any) {
		token := item.(map[string]any)
		if _, told := token["secret"]; told {
			t.Errorf("the secret is told again: %v", token)
		}
		if token["name"] == "ci" && token["last_used"] == nil {
			t.Errorf("it does not say when it was used: %v", token)
		}
	}
	a.send(409, "POST", "/api/v1/tokens", `{"name":"ci","role":"viewer"}`, admin...)
	a.send(400, "POST", "/api/v1/tokens", `{"name":"x","role":"admin","tenants":["acme"]}`, admin...)
	id := made["token"].(map[string]any)["id"].(string)
	a.send(200, "DELETE", "/api/v1/tokens/"+id, "", admin...)
	a.send(404, "DELETE", "/api/v1/tokens/"+id, "", admin...)
}

func TestExpiredAndUnknownTokensAreRefused(t *testing.T) {
	a := newGuardedAPI(t)
	past, _ := a.addToken(access.Token{Name: "past", Role: access.RoleAdmin, ExpiresAt: time.Now().Add(-time.Hour)})
	a.send(401, "GET", "/api/v1/jobs", "", a.as(past)...)
	a.send(401, "GET", "/api/v1/jobs", "", a.as("fl_unknown")...)
	a.send(401, "GET", "/api/v1/jobs", "", "Authorization", "Basic YTpi")
	a.send(401, "GET", "/api/v1/jobs", "", a.as("not.signed.atall")...)
	known := a.token(access.RoleViewer, "")
	a.send(401, "GET", "/api/v1/jobs", "", "Authorization", "Basic "+known)
	a.send(401, "GET", "/api/v1/jobs", "", "Authorization", known)
	a.send(401, "GET", "/api/v1/jobs", "", "Authorization", "Bearer ")
	a.send(200, "GET", "/api/v1/jobs", "", "Authorization", "bearer  "+known)
	a.send(401, "GET", "/api/v1/jobs", "")
}

func TestWhoGuessesTokensIsHeldUpAndNobodyElse(t *testing.T) {
	a := newGuardedAPI(t)
	good := a.as(a.token(access.RoleViewer, ""))
	a.send(200, "GET", "/api/v1/jobs", "", good...)
	statuses := map[int]int{}
	for range 30 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/api/v1/jobs", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer guess")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if asks := response.Header.Get("WWW-Authenticate") != ""; asks != (response.StatusCode == http.StatusUnauthorized) {
			t.Errorf("%d comes with %v", response.StatusCode, response.Header)
		}
		statuses[response.StatusCode]++
	}
	if statuses[401] < 20 || statuses[429] == 0 {
		t.Errorf("guesses were answered with %v", statuses)
	}
	a.send(200, "GET", "/api/v1/jobs", "", good...)
}

func TestARequestWithAKeyCountsOnce(t *testing.T) {
	a := newGuardedAPI(t)
	first := append(a.as(a.token(access.RoleSubmitter, "")), "Idempotency-Key", "k1")
	other := append(a.as(a.token(access.RoleOperator, "")), "Idempotency-Key", "k1")
	body := `{"jobs":[{"kind":"noop"},{"kind":"noop"}]}`
	one, _ := a.send(200, "POST", "/api/v1/jobs", body, first...)
	two, _ := a.send(200, "POST", "/api/v1/jobs", body, first...)
	if one["ids"].([]any)[0] != two["ids"].([]any)[0] {
		t.Errorf("the second answer is %v, the first %v", two, one)
	}
	a.send(409, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"other"}]}`, first...)
	three, _ := a.send(200, "POST", "/api/v1/jobs", body, other...)
	if one["ids"].([]any)[0] == three["ids"].([]any)[0] {
		t.Error("another provider's key was taken for the same")
	}
	for _, key := range []string{strings.Repeat("k", 256), "\xff"} {
		problem, _ := a.send(400, "POST", "/api/v1/jobs", body, append(a.as(a.token(access.RoleSubmitter, "")), "Idempotency-Key", key)...)
		if refusals(problem)["Idempotency-Key"] == "" {
			t.Errorf("the key %.10q is refused as %v", key, problem)
		}
	}
	a.send(200, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`, append(a.as(a.token(access.RoleSubmitter, "")), "Idempotency-Key", strings.Repeat("k", 255))...)
	tally, err := a.client.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Ready] != 5 {
		t.Errorf("there are %v jobs (%v), want 5", tally, err)
	}
}

func TestWhoIsBoundToTenantsSeesOnlyTheirs(t *testing.T) {
	a := newGuardedAPI(t)
	for _, tenant := range []string{"acme", "zeta", "zeta"} {
		if err := a.client.Enqueue(t.Context(), &fairlead.Job{Kind: "noop", Tenant: tenant}); err != nil {
			t.Fatal(err)
		}
	}
	zeta := a.as(a.token(access.RoleOperator, "zeta"))
	for i, tenant := range []string{"acme", "zeta", "zeta"} {
		for path, fields := range map[string]string{
			"batches": `"type":"paint","tenant":%q,"tasks":[{"target":{"id":"1","type":"wall"}}]`, "sweeps": `"kind":"count","to":9,"tenant":%q`,
			"schedules": `"every":"1h","job":{"kind":"noop","tenant":%q}`,
		} {
			a.send(200, "POST", "/api/v1/"+path, fmt.Sprintf(`{"name":"n%d",`+fields+`}`, i, tenant), a.as(a.token(access.RoleOperator, ""))...)
		}
	}
	for _, what := range []string{"jobs?kind=noop", "batches?", "sweeps?", "schedules?"} {
		for query, want := range map[string]int{"": 2, "&tenant=acme": 0, "&tenant=zeta": 2, "&tenant=acme&tenant=zeta": 2} {
			list, _ := a.send(200, "GET", "/api/v1/"+what+query, "", zeta...)
			if got := len(list["items"].([]any)); got != want {
				t.Errorf("%s%s lists %d, want %d", what, query, got, want)
			}
		}
	}
	if list, _ := a.send(200, "GET", "/api/v1/tenants", "", zeta...); len(list["items"].([]any)) != 1 {
		t.Errorf("the tenants are %v", list)
	}
	stats, _ := a.send(200, "GET", "/api/v1/stats", "", zeta...)
	if tenants := stats["tenants"].([]any); len(tenants) != 1 || tenants[0].(map[string]any)["tenant"] != "zeta" {
		t.Errorf("the stats are %v", stats)
	}
	for tenants, want := range map[string]any{``: "2", `,"tenant":["acme"]`: nil, `,"tenant":["acme","zeta"]`: "2"} {
		counted, _ := a.send(200, "POST", "/api/v1/jobs/bulk", `{"action":"delete","dry_run":true,"filter":{"kind":["noop"]`+tenants+`}}`, zeta...)
		if got := counted["matched"]; got != want {
			t.Errorf("%v of the jobs of %s are matched, want %v", got, tenants, want)
		}
	}
	done, _ := a.send(200, "POST", "/api/v1/jobs/bulk", `{"action":"cancel","filter":{"kind":["noop"]}}`, zeta...)
	if done["done"] != "2" {
		t.Errorf("it cancelled %v", done)
	}
}

func TestWhatWasDoneIsWrittenDown(t *testing.T) {
	a := newGuardedAPI(t)
	admin, operator := a.as(a.token(access.RoleAdmin, "")), a.as(a.token(access.RoleOperator, ""))
	a.send(200, "PUT", "/api/v1/tenants/acme", `{"max_running":5}`, operator...)
	a.send(200, "POST", "/api/v1/queues/mail/pause", "", operator...)
	a.send(400, "PUT", "/api/v1/limits/nonsense", `{}`, operator...)
	made, _ := a.send(200, "POST", "/api/v1/tokens", `{"name":"ci","role":"viewer"}`, admin...)
	a.send(200, "GET", "/api/v1/jobs", "", operator...)
	log, _ := a.send(200, "GET", "/api/v1/audit", "", admin...)
	var seen []string
	for _, item := range log["items"].([]any) {
		entry := item.(map[string]any)
		seen = append(seen, entry["action"].(string)+" "+entry["subject"].(string)+" by "+entry["actor"].(string))
		if entry["from"] != "127.0.0.1" || entry["at"] == nil {
			t.Errorf("it does not say from where and when: %v", entry)
		}
		if entry["action"] == "UpdateTenant" {
			before, after := entry["before"].(map[string]any), entry["after"].(map[string]any)
			if before["max_running"] != nil && before["max_running"] != 0.0 || after["max_running"] != 5.0 {
				t.Errorf("it changed from %v to %v", before, after)
			}
		}
		if strings.Contains(entry["action"].(string), "Token") && strings.Contains(jsonOf(t, entry), made["secret"].(string)) {
			t.Errorf("the secret is in the audit log: %v", entry)
		}
	}
	want := "CreateToken token:ci by admin , PauseQueue queue:mail by operator , UpdateTenant tenant:acme by operator "
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("written down is %q, want %q", got, want)
	}
	page, _ := a.send(200, "GET", "/api/v1/audit?page_size=1&actor=operator%20", "", admin...)
	next, _ := a.send(200, "GET", "/api/v1/audit?page_size=1&actor=operator%20&page_token="+page["next_page_token"].(string), "", admin...)
	if len(next["items"].([]any)) != 1 || next["next_page_token"] != "" && next["next_page_token"] != nil {
		t.Errorf("the second page is %v", next)
	}
}

func TestEnqueueingIsWrittenDownInSums(t *testing.T) {
	a := newGuardedAPI(t)
	admin, submitter := a.as(a.token(access.RoleAdmin, "")), a.as(a.token(access.RoleSubmitter, ""))
	for range 3 {
		a.send(200, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"},{"kind":"noop"}]}`, submitter...)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := a.service.Run(ended); err != nil { // what is not written yet is written at the end
		t.Fatal(err)
	}
	log, _ := a.send(200, "GET", "/api/v1/audit?action=EnqueueJobs", "", admin...)
	items := log["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("written down is %v", log)
	}
	sum := items[0].(map[string]any)["after"].(map[string]any)
	wantFields(t, sum, map[string]any{"requests": 3.0, "jobs": 6.0, "first_id": "1", "last_id": "6"})

	// A request that is repeated is answered with the ids of the first time.
	once := append(slices.Clone(submitter), "Idempotency-Key", "k")
	a.send(200, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`, once...)
	if err := a.service.Run(ended); err != nil {
		t.Fatal(err)
	}
	a.send(200, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`, submitter...)
	a.send(200, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`, once...)
	if err := a.service.Run(ended); err != nil {
		t.Fatal(err)
	}
	log, _ = a.send(200, "GET", "/api/v1/audit?action=EnqueueJobs&page_size=1", "", admin...)
	sum = log["items"].([]any)[0].(map[string]any)["after"].(map[string]any)
	wantFields(t, sum, map[string]any{"requests": 2.0, "jobs": 2.0, "first_id": "7", "last_id": "8"})
}

// leaving is a store whose database can be lost.
type leaving struct {
	server.Store
	gone *atomic.Bool
}

var errGone = fmt.Errorf("connection refused: %w", fairlead.ErrUnavailable)

func (s leaving) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	if s.gone.Load() {
		return fairlead.Page{}, errGone
	}
	return s.Store.FindPage(ctx, filter)
}

func (s leaving) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	if s.gone.Load() {
		return access.Token{}, errGone
	}
	return s.Store.FindToken(ctx, hash)
}

func (s leaving) Now(ctx context.Context) (time.Time, error) {
	if s.gone.Load() {
		return time.Time{}, errGone
	}
	return s.Store.Now(ctx)
}

func TestADatabaseThatIsGoneIsSaidToBe(t *testing.T) {
	var gone atomic.Bool
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return leaving{store, &gone} })
	admin := a.as(a.token(access.RoleAdmin, ""))
	a.send(200, "GET", "/api/v1/jobs", "", admin...)
	gone.Store(true)
	_, header := a.send(503, "GET", "/api/v1/jobs", "", admin...)
	if header.Get("Retry-After") == "" {
		t.Error("it does not say that it is worth trying again")
	}
	a.send(503, "GET", "/api/v1/jobs", "", a.as("fl_unknown")...)
	gone.Store(false)
	a.send(200, "GET", "/api/v1/jobs", "", admin...)
}
