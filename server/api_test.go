package server_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// api is a served store and small verbs to talk to it.
type api struct {
	testing.TB
	url   string
	store *sqlite.Store
}

func newAPI(t testing.TB) *api {
	store := sqlitetest.Open(t)
	workers := server.WorkerOptions{Beat: time.Second, Grace: 300 * time.Millisecond}
	handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return &api{TB: t, url: served(t, handler, store), store: store}
}

// served serves a service and its store until the test ends, and returns the URL.
func served(t testing.TB, service http.Handler, store server.Store) (url string) {
	web := httptest.NewUnstartedServer(service)
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(func() {
		web.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return web.URL
}

// send makes a request and expects a status. It returns the answer as JSON.
func (a *api) send(want int, verb, path, body string, headers ...string) (answer map[string]any, header http.Header) {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), verb, a.url+path, strings.NewReader(body))
	if err != nil {
		a.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		a.Fatal(err)
	}
	if response.StatusCode != want {
		a.Fatalf("%s %s: %d, want %d: %s", verb, path, response.StatusCode, want, raw)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		a.Fatalf("%s %s: %v: %s", verb, path, err, raw)
	}
	return answer, response.Header
}

// enqueue stores a job and returns its path.
func (a *api) enqueue(job string) string {
	a.Helper()
	answer, _ := a.send(200, "POST", "/api/v1/jobs", `{"jobs":[`+job+`]}`)
	return "/api/v1/jobs/" + answer["ids"].([]any)[0].(string)
}

func (a *api) wantState(path, want string) map[string]any {
	a.Helper()
	job, _ := a.send(200, "GET", path, "")
	if job["state"] != want {
		a.Fatalf("%s is %v, want %s", path, job["state"], want)
	}
	return job
}

func TestJobsAreEnqueuedReadAndMoved(t *testing.T) {
	a := newAPI(t)
	path := a.enqueue(`{"kind":"noop","args":{"n": 1},"tenant":"acme","priority":5,"timeout":"20s","concurrency_key":"k"}`)
	job := a.wantState(path, "ready")
	for field, want := range map[string]any{"kind": "noop", "tenant": "acme", "priority": 5.0, "timeout": "20s", "queue": "default", "concurrency_key": "k"} {
		if job[field] != want {
			t.Errorf("%s is %v, want %v", field, job[field], want)
		}
	}
	for _, field := range []string{"retry", "key", "output", "progress", "memo", "error", "node", "batch_id", "schedule_id", "finished_at"} {
		if job[field] != nil {
			t.Errorf("%s is %v, and was not given", field, job[field])
		}
	}
	given := a.wantState(a.enqueue(`{"kind":"noop","retry":{"base":"2s","factor":3,"max":"60s","precise":true},"key":"once","max_attempts":4,"on_crash":"cancel"}`), "ready")
	if jsonOf(t, given["retry"]) != `{"base":"2s","factor":3,"max":"60s","precise":true}` {
		t.Errorf("retry is %v", given["retry"])
	}
	wantFields(t, given, map[string]any{"key": "once", "max_attempts": 4.0, "on_crash": "cancel"})
	later := a.enqueue(`{"kind":"noop","not_before":"2100-01-01T00:00:00Z"}`)
	a.wantState(later, "scheduled")
	a.send(200, "POST", later+"/reschedule", `{"not_before":"2101-01-01T00:00:00Z"}`)
	a.send(200, "POST", later+"/run", "")
	a.wantState(later, "ready")
	a.send(200, "POST", later+"/priority", `{"priority":7}`)
	answer, _ := a.send(200, "POST", later+"/cancel", `{"reason":"not needed"}`)
	if answer["state"] != "cancelled" || answer["error"] != "not needed" {
		t.Errorf("it was cancelled as %v", answer)
	}
	a.send(409, "POST", later+"/cancel", "{}")
	a.send(200, "POST", later+"/retry", "{}")
	a.send(409, "POST", later+"/finish", `{"output":1}`)
	a.send(200, "DELETE", later, "")
	a.send(404, "GET", later, "")
	why, _ := a.send(200, "GET", path+"/explain", "")
	if why["obstacles"].([]any)[0].(map[string]any)["code"] != "no_node" {
		t.Errorf("it is explained as %v", why)
	}
	a.send(200, "GET", path+"/attempts", "")
}

func TestJobsAreListedPageByPage(t *testing.T) {
	a := newAPI(t)
	for range 5 {
		a.enqueue(`{"kind":"noop"}`)
	}
	a.enqueue(`{"kind":"other"}`)
	seen, token := 0, ""
	for pages := 0; pages == 0 || token != ""; pages++ {
		page, _ := a.send(200, "GET", "/api/v1/jobs?kind=noop&state=ready&state=scheduled&page_size=2&page_token="+token, "")
		seen += len(page["items"].([]any))
		token, _ = page["next_page_token"].(string)
	}
	if seen != 5 {
		t.Errorf("%d jobs were listed, want 5", seen)
	}
	for range 115 {
		a.enqueue(`{"kind":"noop"}`)
	}
	first, _ := a.send(200, "GET", "/api/v1/jobs?kind=noop", "")
	rest, _ := a.send(200, "GET", "/api/v1/jobs?kind=noop&page_token="+first["next_page_token"].(string), "")
	if len(items(t, first)) != 100 || len(items(t, rest)) != 20 || rest["next_page_token"] != nil {
		t.Errorf("without a size, pages have %d and %d jobs", len(items(t, first)), len(items(t, rest)))
	}
	empty, _ := a.send(200, "GET", "/api/v1/jobs?tenant=nobody", "")
	if items, ok := empty["items"].([]any); !ok || len(items) != 0 {
		t.Errorf("an empty page is %v", empty)
	}
}

func TestManyJobsAreMovedAtOnceAndCountedBefore(t *testing.T) {
	a := newAPI(t)
	for range 150 {
		a.enqueue(`{"kind":"noop"}`)
	}
	for _, step := range []struct{ body, field, want string }{
		{`{"action":"cancel","filter":{"kind":["noop"]},"dry_run":true}`, "matched", "150"},
		{`{"action":"cancel","filter":{"kind":["noop"]},"reason":"over"}`, "done", "150"},
		{`{"action":"retry","filter":{"state":["cancelled"]}}`, "done", "150"},
		{`{"action":"delete","filter":{}}`, "done", "150"},
	} {
		answer, _ := a.send(200, "POST", "/api/v1/jobs/bulk", step.body)
		if answer[step.field] != step.want {
			t.Errorf("%s: %s is %v, want %s", step.body, step.field, answer[step.field], step.want)
		}
	}
	a.send(400, "POST", "/api/v1/jobs/bulk", `{"action":"retry","filter":{"state":["ready"]}}`)
}

func TestTenantsAreDeclaredByVersion(t *testing.T) {
	a := newAPI(t)
	created, header := a.send(200, "POST", "/api/v1/tenants", `{"name":"acme","max_running":5,"labels":{"plan":"gold"}}`)
	tag := header.Get("ETag")
	if tag == "" || created["max_running"] != 5.0 {
		t.Fatalf("created as %v with ETag %q", created, tag)
	}
	a.send(409, "POST", "/api/v1/tenants", `{"name":"acme"}`)
	a.send(200, "PUT", "/api/v1/tenants/acme", `{"max_running":7}`, "If-Match", tag)
	a.send(412, "PUT", "/api/v1/tenants/acme", `{"max_running":8}`, "If-Match", tag)
	a.send(200, "PUT", "/api/v1/tenants/acme", `{"max_running":9}`)
	a.send(400, "PUT", "/api/v1/tenants/acme", `{"name":"zeta","max_running":9}`)
	a.send(200, "POST", "/api/v1/tenants/acme/pause", "")
	a.enqueue(`{"kind":"noop","tenant":"acme"}`)
	stats, _ := a.send(200, "GET", "/api/v1/tenants/acme/stats", "")
	if stats["ready"] != 1.0 || stats["max_running"] != 9.0 {
		t.Errorf("its stats are %v", stats)
	}
	list, _ := a.send(200, "GET", "/api/v1/tenants", "")
	if items := list["items"].([]any); len(items) != 1 || items[0].(map[string]any)["paused"] != true {
		t.Errorf("listed as %v", list)
	}
	key, _ := a.send(200, "GET", "/api/v1/tenants/acme/signing_key", "")
	again, _ := a.send(200, "GET", "/api/v1/tenants/acme/signing_key", "")
	if text, _ := key["signing_key"].(string); len(text) != 64 || again["signing_key"] != text || key["tenant"] != "acme" {
		t.Errorf("its signing key is %v, then %v", key, again)
	}
	a.send(200, "DELETE", "/api/v1/tenants/acme?force=true", "")
	a.send(404, "GET", "/api/v1/tenants/acme", "")
	a.send(404, "GET", "/api/v1/tenants/acme/signing_key", "")
}

func TestTheClusterIsSeenAndLimited(t *testing.T) {
	a := newAPI(t)
	a.enqueue(`{"kind":"noop","queue":"mail","tenant":"acme"}`)
	a.send(200, "POST", "/api/v1/queues/web/pause", "")
	queues, _ := a.send(200, "GET", "/api/v1/queues", "")
	items := queues["items"].([]any)
	if len(items) != 2 || items[0].(map[string]any)["ready"] != "1" || items[1].(map[string]any)["paused"] != true {
		t.Errorf("the queues are %v", queues)
	}
	a.send(200, "POST", "/api/v1/queues/web/resume", "")
	a.send(200, "GET", "/api/v1/nodes", "")
	set, _ := a.send(200, "PUT", "/api/v1/limits/kind:noop", `{"max_running":5,"per_key":2}`)
	if set["scope"] != "kind:noop" || set["max_running"] != 5.0 || set["per_key"] != 2.0 {
		t.Errorf("the limit is %v", set)
	}
	a.send(200, "PUT", "/api/v1/limits/global", `{"rate":10}`)
	limits, _ := a.send(200, "GET", "/api/v1/limits", "")
	if len(limits["items"].([]any)) != 2 {
		t.Errorf("the limits are %v", limits)
	}
	a.send(200, "PUT", "/api/v1/limits/kind:noop", `{}`)
	tenants, _ := a.send(400, "PUT", "/api/v1/limits/tenant:acme", `{"max_running":1}`)
	if got := refusals(tenants)["scope"]; !strings.Contains(got, "is a tenant; set max_running and rate on the tenant itself") {
		t.Errorf("the limit of a tenant is refused as %v", tenants)
	}
	for _, scope := range []string{"queue:", "kind:", "queue", "global:all", "nothing:x"} {
		problem, _ := a.send(400, "PUT", "/api/v1/limits/"+scope, `{"max_running":1}`)
		if got := refusals(problem)["scope"]; got != "must be global, queue:NAME or kind:NAME" {
			t.Errorf("%s is refused as %v", scope, problem)
		}
	}
	queue, _ := a.send(200, "PUT", "/api/v1/limits/queue:mail", `{"max_running":3}`)
	wantFields(t, queue, map[string]any{"scope": "queue:mail", "max_running": 3.0})
	drift, _ := a.send(200, "POST", "/api/v1/verify", "")
	if len(drift["items"].([]any)) != 0 {
		t.Errorf("there is drift: %v", drift)
	}
	stats, _ := a.send(200, "GET", "/api/v1/stats", "")
	if stats["total"].(map[string]any)["ready"] != 1.0 || len(stats["tenants"].([]any)) != 1 {
		t.Errorf("the stats are %v", stats)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	a := newAPI(t)
	for _, c := range []struct {
		status           int
		verb, path, body string
		field            string
	}{
		{400, "POST", "/api/v1/jobs", `{"jobs":[{"kind":""}]}`, "jobs[0].kind"},
		{400, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"a"},{"kind":"b","start_by":"soon"}]}`, "jobs[1].start_by"},
		{400, "POST", "/api/v1/jobs", `{"job":[]}`, "job"},
		{400, "POST", "/api/v1/jobs", `{}`, "jobs"},
		{400, "POST", "/api/v1/jobs", `{"jobs":[`, ""},
		{400, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"a","not_before":"2030-01-02T00:00:00Z","start_by":"2030-01-01T00:00:00Z"}]}`, "jobs[0].start_by"},
		{400, "GET", "/api/v1/jobs/x", "", "id"},
		{400, "GET", "/api/v1/jobs?stat=ready", "", "stat"},
		{400, "GET", "/api/v1/jobs?state=done", "", "state[0]"},
		{400, "GET", "/api/v1/jobs?page_size=many", "", "page_size"},
		{400, "GET", "/api/v1/jobs?page_token=!", "", "page_token"},
		{400, "GET", "/api/v1/jobs?page_token=AAAA", "", "page_token"},
		{400, "GET", "/api/v1/jobs?page_token=AAAAAAAAAAAAAAAA", "", "page_token"},
		{400, "GET", "/api/v1/jobs?page_size=1&page_size=2", "", "page_size"},
		{400, "POST", "/api/v1/jobs/7/cancel", `{"id":8}`, "id"},
		{400, "POST", "/api/v1/jobs?kind=a", `{}`, ""},
		{404, "GET", "/api/v1/jobs/999", "", ""},
		{404, "GET", "/api/v1/nothing", "", ""},
		{405, "PATCH", "/api/v1/jobs", "", ""},
	} {
		answer, header := a.send(c.status, c.verb, c.path, c.body)
		if header.Get("Content-Type") != "application/problem+json" || answer["title"] == "" || answer["detail"] == "" {
			t.Errorf("%s %s: %v is no problem", c.verb, c.path, answer)
		}
		errs, _ := answer["errors"].([]any)
		if c.field != "" && (len(errs) == 0 || errs[0].(map[string]any)["field"] != c.field) {
			t.Errorf("%s %s %s: the errors are %v, want field %s", c.verb, c.path, c.body, errs, c.field)
		}
	}
	a.send(415, "POST", "/api/v1/jobs", "<jobs/>", "Content-Type", "application/xml")
	a.send(413, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"`+strings.Repeat("k", 17<<20)+`"}]}`)
}

func TestAJobIsWatchedUntilItIsFinal(t *testing.T) {
	a := newAPI(t)
	path := a.enqueue(`{"kind":"noop"}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+path+"/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var states []string
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		data, event := strings.CutPrefix(lines.Text(), "data: ")
		if !event {
			continue
		}
		var job struct{ State string }
		if err := json.Unmarshal([]byte(data), &job); err != nil {
			t.Fatal(err)
		}
		if states = append(states, job.State); len(states) == 1 {
			a.send(200, "POST", path+"/cancel", "{}")
		}
	}
	if got := strings.Join(states, " "); got != "ready cancelled" {
		t.Errorf("what was seen is %q", got)
	}
	a.send(404, "GET", "/api/v1/jobs/999/watch", "")
}

func TestPagesOfOthersAreKeptAway(t *testing.T) {
	a := newAPI(t)
	for name, change := range map[string]func(*http.Request){
		"another origin":  func(r *http.Request) { r.Header.Set("Origin", "https://example.com") },
		"another name":    func(r *http.Request) { r.Host = "example.com" },
		"another address": func(r *http.Request) { r.Host = "192.0.2.1:80" },
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/api/v1/jobs", strings.NewReader(`{"jobs":[{"kind":"noop"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		change(request)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("%s: %d", name, response.StatusCode)
		}
	}
}
