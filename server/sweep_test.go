package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

func progressOf(sweep map[string]any) map[string]any { return sweep["progress"].(map[string]any) }

func TestASweepIsStartedStoppedAndFinished(t *testing.T) {
	a, world := newCountingAPI(t)
	made, _ := a.send(200, "POST", sweeps, `{"name":"all","kind":"count","args":{"n":1},"from":10,"to":1010,"in_flight":8,"rate":50.5,"shards":2,"error_budget":{"items":7}}`)
	wantFields(t, made, map[string]any{
		"id": "1", "name": "all", "state": "created", "from": "10", "to": "1010", "in_flight": 8.0, "rate": 50.5, "shards": 2.0, "window": 1024.0,
		"attempts": 5.0, "backoff": "3s", "on_exhausted": "abandon", "queue": "default", "tenant": "default", "version": "1",
	})
	wantFields(t, progressOf(made), map[string]any{"total": "1000", "done": "0"})
	path := sweeps + "/all"
	stream := a.watch(path + "/watch")
	a.send(409, "POST", path+"/stop", `{}`)
	a.send(409, "POST", path+"/open", `{}`)
	a.send(200, "POST", path+"/start", `{}`)
	a.send(409, "POST", path+"/start", `{}`)
	a.send(409, "DELETE", path, "")
	running := a.untilSweep(path, "half done", func(s map[string]any) bool { return progressOf(s)["marked"] == "500" })
	wantFields(t, running, map[string]any{"state": "running", "run": 1.0})
	wantFields(t, progressOf(running), map[string]any{"total": "1000", "done": "498", "abandoned": "2", "errors": "10", "in_window": "0", "rate": 20.0})
	if progressOf(running)["eta"] == nil {
		t.Error("there is no time when it will have finished")
	}
	a.send(409, "PUT", path+"/data", `{"args":{"n":2}}`)
	a.eventually("its shards have their shares", func() bool { // they are granted after the first checkpoint
		parts, _ := a.send(200, "GET", path+"/shards", "")
		got := items(t, parts)
		if len(got) != 2 || got[1]["from"] != "510" || got[1]["mark"] != "760" || got[0]["number"] != 0.0 {
			t.Fatalf("its shards are %v", parts)
		}
		return got[0]["in_flight"] != nil
	})
	stopping, _ := a.send(200, "POST", path+"/stop", `{"reason":"lunch"}`)
	if stopping["state"] != "stopping" && stopping["state"] != "stopped" {
		t.Errorf("stopped, it is %v", stopping)
	}
	stopped := a.untilSweep(path, "stopped", inState("stopped"))
	wantFields(t, stopped, map[string]any{"reason": "lunch"})
	last := ""
	for stream.Scan() {
		if data, is := strings.CutPrefix(stream.Text(), "data: "); is {
			last = data
		}
	}
	if !strings.Contains(last, `"state":"stopped"`) {
		t.Errorf("who watched saw %s at last", last)
	}
	changed, _ := a.send(200, "PUT", path+"/data", `{"args":{"n":2}}`)
	if args := changed["args"].(map[string]any); args["n"] != 2.0 {
		t.Errorf("its args are %v", args)
	}
	close(world.held)
	a.send(200, "POST", path+"/start", `{}`)
	finished := a.untilSweep(path, "finished", inState("finished"))
	wantFields(t, progressOf(finished), map[string]any{"marked": "1000", "done": "998", "abandoned": "2"})
	a.send(409, "POST", path+"/start", `{}`)
	again, _ := a.send(200, "POST", path+"/start", `{"again":true}`)
	wantFields(t, again, map[string]any{"state": "running", "run": 3.0})
	a.untilSweep(path, "finished again", inState("finished"))

	history, _ := a.send(200, "GET", path+"/history", "")
	var actions []string
	for _, event := range items(t, history) {
		actions = append(actions, fmt.Sprint(event["action"], " by ", event["by"]))
	}
	want := "finish by <nil>, start by local, renew by local, finish by <nil>, start by local, data by local, stopped by <nil>, stop by local, start by local, create by local"
	if got := strings.Join(actions, ", "); got != want {
		t.Errorf("its history is %s, want %s", got, want)
	}
	var paged []string
	for token := ""; ; {
		few, _ := a.send(200, "GET", path+"/history?page_size=3&page_token="+token, "")
		for _, event := range items(t, few) {
			paged = append(paged, fmt.Sprint(event["action"], " by ", event["by"]))
		}
		if few["next_page_token"] == nil {
			break
		}
		token = fmt.Sprint(few["next_page_token"])
	}
	if got := strings.Join(paged, ", "); got != want {
		t.Errorf("page by page its history is %s, want %s", got, want)
	}
	listed, _ := a.send(200, "GET", sweeps+"?state=finished&name=all&tenant=default", "")
	if got := items(t, listed); len(got) != 1 || got[0]["name"] != "all" {
		t.Errorf("finished are %v", listed)
	}
	a.send(200, "DELETE", path, "")
	a.send(404, "GET", path, "")
}

func TestASweepIsChanged(t *testing.T) {
	a, world := newCountingAPI(t)
	defer close(world.held) // the node waits for what it runs
	a.send(200, "POST", sweeps, `{"name":"all","kind":"count","to":1000}`)
	path := sweeps + "/1"
	changed, header := a.send(200, "PATCH", path, `{"rate":100,"in_flight":2000,"name":"most","error_budget":{"percent":2.5},"timeout":"5s"}`)
	wantFields(t, changed, map[string]any{"name": "most", "rate": 100.0, "in_flight": 2000.0, "window": 4000.0, "timeout": "5s", "version": "2", "to": "1000"})
	if got := changed["error_budget"].(map[string]any); got["percent"] != 2.5 || got["items"] != nil {
		t.Errorf("its budget is %v", got)
	}
	noted := func(want string) {
		t.Helper()
		history, _ := a.send(200, "GET", path+"/history", "")
		wantFields(t, items(t, history)[0], map[string]any{"action": "set", "note": want})
	}
	noted("error_budget, in_flight 2000, name most, rate 100, timeout")
	changed, _ = a.send(200, "PATCH", path, `{"rate":null,"version":2}`, "If-Match", header.Get("ETag"))
	wantFields(t, changed, map[string]any{"rate": 0.0, "in_flight": 2000.0})
	noted("rate default")
	a.send(412, "PATCH", path, `{"rate":7}`, "If-Match", header.Get("ETag"))
	a.send(409, "PATCH", path, `{"rate":7,"version":1}`)
	for body, field := range map[string]string{
		`{}`: "rate", `{"args":{"n":1}}`: "args", `{"args":null}`: "args", `{"rate":-1}`: "rate", `{"in_flight":20000}`: "in_flight", `{"to":0}`: "to",
		`{"window":5}`: "window", `{"name":""}`: "name", `{"colour":1}`: "colour",
	} {
		if problem, _ := a.send(400, "PATCH", path, body); refusals(problem)[field] == "" {
			t.Errorf("%s is refused as %v", body, problem)
		}
	}
	a.send(200, "POST", path+"/start", `{}`)
	a.send(409, "PATCH", path, `{"to":2000}`)
	a.send(409, "PATCH", path, `{"kind":"other"}`)
	changed, _ = a.send(200, "PATCH", path, `{"rate":9.5,"in_flight":4}`)
	wantFields(t, changed, map[string]any{"state": "running", "rate": 9.5, "in_flight": 4.0})
	history, _ := a.send(200, "GET", path+"/history", "")
	wantFields(t, items(t, history)[0], map[string]any{"action": "set", "by": "local", "note": "in_flight 4, rate 9.5"})
	a.send(404, "PATCH", sweeps+"/none", `{"rate":1}`)
}

func TestASweepWaitsForTheBusiness(t *testing.T) {
	a, world := newCountingAPI(t)
	close(world.held)
	a.send(200, "POST", sweeps, `{"name":"gated","kind":"count","to":10,"gate":{"before_run":"http://127.0.0.1:1/run","timeout":"1h"}}`)
	path := sweeps + "/gated"
	waits, _ := a.send(200, "POST", path+"/start", `{}`)
	wantFields(t, waits, map[string]any{"state": "waiting"})
	if waits["asked_at"] == nil {
		t.Error("the gate was not asked")
	}
	changed, _ := a.send(200, "PUT", path+"/data", `{"args":{"list":"today"}}`)
	if changed["args"].(map[string]any)["list"] != "today" {
		t.Errorf("its args are %v", changed)
	}
	a.send(200, "POST", path+"/open", `{}`)
	a.untilSweep(path, "finished", inState("finished"))
	a.send(409, "POST", path+"/open", `{}`)
}

func TestTheBusinessMayRefuseASweep(t *testing.T) {
	a, _ := newCountingAPI(t)
	var asked map[string]any
	status, answer, signature := 200, "", ""
	business := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(raw, &asked) != nil {
			t.Errorf("asked was %q: %v", raw, err)
		}
		signature = r.Header.Get("Webhook-Signature")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer business.Close()
	body := `{"name":"asked","kind":"count","to":10,"gate":{"before_create":"` + business.URL + `/create"}}`
	for _, no := range []struct {
		status int
		answer string
		want   int
		detail string
	}{
		{403, `{"reason":"the list is not ready"}`, 409, "refused by gate.before_create: the list is not ready"},
		{400, "not\ntoday", 409, "not today"},
		{410, "", 409, "it responded with 410"},
		{404, strings.Repeat("x", 2000), 409, "xxx…"},
		{500, "oh", 502, "try again"},
		{429, "oh", 502, "try again"},
		{302, "oh", 502, "try again"},
	} {
		status, answer = no.status, no.answer
		problem, _ := a.send(no.want, "POST", sweeps, body)
		if detail := fmt.Sprint(problem["detail"]); !strings.Contains(detail, no.detail) {
			t.Errorf("%d %.20s is told as %s", no.status, no.answer, detail)
		}
	}
	if listed, _ := a.send(200, "GET", sweeps, ""); len(items(t, listed)) != 0 {
		t.Errorf("refused, they are %v", listed)
	}
	log, _ := a.send(200, "GET", "/api/v1/audit", "")
	if len(items(t, log)) != 0 {
		t.Errorf("written down is %v", log)
	}
	status, answer = 204, ""
	a.send(200, "POST", sweeps, body)
	wantFields(t, asked, map[string]any{"name": "asked", "kind": "count", "to": "10", "in_flight": 16.0})
	if !strings.HasPrefix(signature, "v1,") {
		t.Errorf("it is signed with %q", signature)
	}
	problem, _ := a.send(400, "POST", sweeps, `{"name":"far","kind":"count","to":10,"gate":{"before_create":"http://169.254.169.254/"}}`)
	if !strings.Contains(refusals(problem)["gate.before_create"], "not allowed") {
		t.Errorf("an address that may not be called is refused as %v", problem)
	}
}

func TestLinesAndFailedItemsOfASweep(t *testing.T) {
	a, world := newCountingAPI(t)
	defer close(world.held) // the node waits for what it runs
	a.send(200, "POST", sweeps, `{"name":"all","kind":"count","to":12,"shards":4}`)
	path := sweeps + "/all"
	a.send(200, "POST", path+"/logs", `{"index":7,"level":"warn","text":"no address"}`)
	a.send(200, "POST", path+"/logs", `{"items":[{"index":0,"text":"first"},{"index":7,"level":"error","text":"gone"}]}`)
	logs, _ := a.send(200, "GET", path+"/logs", "")
	if got := items(t, logs); len(got) != 3 || got[0]["text"] != "gone" || got[1]["level"] != "info" || got[1]["index"] != "0" || got[2]["at"] == nil {
		t.Errorf("its lines are %v", logs)
	}
	logs, _ = a.send(200, "GET", path+"/logs?level=warn&level=error&index=7&page_size=1", "")
	next, _ := logs["next_page_token"].(string)
	if got := items(t, logs); len(got) != 1 || next == "" {
		t.Errorf("the first page is %v", logs)
	}
	logs, _ = a.send(200, "GET", path+"/logs?level=warn&level=error&index=7&page_size=1&page_token="+next, "")
	if got := items(t, logs); len(got) != 1 || got[0]["text"] != "no address" || logs["next_page_token"] != nil {
		t.Errorf("the second page is %v", logs)
	}
	for body, field := range map[string]string{
		`{}`: "text", `{"text":"x","level":"loud"}`: "level", `{"text":"x","index":-1}`: "index", `{"items":[{"index":1}]}`: "items[0].text",
		`{"text":"x","items":[{"text":"y"}]}`: "items", `{"index":3,"items":[{"text":"y"}]}`: "items", `{"level":"warn","items":[{"text":"y"}]}`: "items", `{"text":"` + strings.Repeat("x", 4001) + `"}`: "text",
	} {
		if problem, _ := a.send(400, "POST", path+"/logs", body); refusals(problem)[field] == "" {
			t.Errorf("%.50s is refused as %v", body, problem)
		}
	}
	a.send(200, "POST", path+"/start", `{}`)
	a.untilSweep(path, "begun", func(s map[string]any) bool { return progressOf(s)["abandoned"] == "4" })
	token, seen := "", []string{}
	for {
		page, _ := a.send(200, "GET", path+"/failed?page_size=3&page_token="+token, "")
		for _, item := range items(t, page) {
			seen = append(seen, item["index"].(string))
			wantFields(t, item, map[string]any{"attempts": 5.0, "error": "it is odd"})
		}
		if token, _ = page["next_page_token"].(string); token == "" {
			break
		}
	}
	if got := strings.Join(seen, " "); got != "0 3 6 9" {
		t.Errorf("failed are %s", got)
	}
	a.send(404, "POST", sweeps+"/none/logs", `{"text":"x"}`)
	for _, part := range []string{"", "/logs", "/failed", "/history", "/shards", "/watch"} {
		a.send(404, "GET", sweeps+"/none"+part, "")
	}
}

func TestASweepIsCutIntoOtherShards(t *testing.T) {
	a, world := newCountingAPI(t)
	defer close(world.held) // the node waits for what it runs
	a.send(200, "POST", sweeps, `{"name":"all","kind":"count","to":1000,"shards":2}`)
	path := sweeps + "/all"
	wantShards := func(want ...string) {
		t.Helper()
		parts, _ := a.send(200, "GET", path+"/shards", "")
		var got []string
		for _, part := range items(t, parts) {
			got = append(got, fmt.Sprint(part["from"], "-", part["to"]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("its shards are %v, want %v", got, want)
		}
	}
	a.send(200, "POST", path+"/start", `{}`)
	a.untilSweep(path, "half done", func(s map[string]any) bool { return progressOf(s)["marked"] == "500" })
	changed, _ := a.send(200, "PATCH", path, `{"shards":4}`)
	wantFields(t, changed, map[string]any{"state": "running", "shards": 4.0})
	wantShards("0-500", "500-1000")
	a.send(200, "POST", path+"/stop", `{}`)
	a.untilSweep(path, "stopped", inState("stopped"))
	wantShards("0-500", "500-1000")
	started, _ := a.send(200, "POST", path+"/start", `{}`)
	wantFields(t, started, map[string]any{"state": "running", "shards": 4.0})
	wantFields(t, progressOf(started), map[string]any{"total": "1000", "marked": "500", "done": "498", "abandoned": "2"})
	wantShards("0-375", "375-500", "500-875", "875-1000")
}

func TestFailedItemsAreRetried(t *testing.T) {
	a, world := newCountingAPI(t)
	a.send(200, "POST", sweeps, `{"name":"all","kind":"count","from":5,"to":1000}`)
	path := sweeps + "/all"
	problem, _ := a.send(409, "POST", path+"/retry", `{}`)
	if !strings.Contains(problem["detail"].(string), "it is created") {
		t.Errorf("it is refused as %v", problem)
	}
	a.send(200, "POST", path+"/start", `{}`)
	world.held <- struct{}{}
	a.untilSweep(path, "finished", inState("finished"))
	problem, _ = a.send(400, "POST", path+"/retry", `{"indexes":["5",6]}`)
	if !strings.Contains(refusals(problem)["indexes"], "[6]") {
		t.Errorf("it is refused as %v", problem)
	}
	retried, _ := a.send(200, "POST", path+"/retry", `{"indexes":["5"]}`)
	wantFields(t, retried, map[string]any{"state": "running", "run": 2.0})
	wantFields(t, retried["progress"].(map[string]any), map[string]any{"abandoned": "1", "again": "1", "done": "994"})
	failed, _ := a.send(200, "GET", path+"/failed", "")
	if got := items(t, failed); len(got) != 1 || got[0]["again"] != true {
		t.Errorf("failed are %v", failed)
	}
	shards, _ := a.send(200, "GET", path+"/shards", "")
	wantFields(t, items(t, shards)[0], map[string]any{"ended": false, "again": "1"})
	world.held <- struct{}{}
	ended := a.untilSweep(path, "finished", inState("finished"))
	wantFields(t, ended["progress"].(map[string]any), map[string]any{"abandoned": "0", "again": nil, "done": "995"})
	history, _ := a.send(200, "GET", path+"/history", "")
	wantFields(t, items(t, history)[1], map[string]any{"action": "retry", "note": "1 item", "from": "finished", "to": "running"})
	problem, _ = a.send(409, "POST", path+"/retry", `{}`)
	if !strings.Contains(problem["detail"].(string), "none of its items failed") {
		t.Errorf("it is refused as %v", problem)
	}
	a.send(404, "POST", sweeps+"/none/retry", `{}`)
}

func TestASweepThatCannotBeIsRefused(t *testing.T) {
	a, _ := newCountingAPI(t)
	for body, want := range map[string][2]string{
		`{"kind":"count","to":9}`:                                                {"name", ""},
		`{"name":"n","to":9}`:                                                    {"kind", ""},
		`{"name":"n","kind":"count"}`:                                            {"to", "missing"},
		`{"name":"n","kind":"count","from":9,"to":9}`:                            {"to", "must be greater than from (9)"},
		`{"name":"n","kind":"count","from":-1,"to":9}`:                           {"from", ""},
		`{"name":"n","kind":"count","to":2000000000000000000}`:                   {"to", "between"},
		`{"name":"n","kind":"count","to":9,"in_flight":20000}`:                   {"in_flight", "between"},
		`{"name":"n","kind":"count","to":9,"rate":-1}`:                           {"rate", "between"},
		`{"name":"n","kind":"count","to":9,"adaptive":true}`:                     {"adaptive", "rate"},
		`{"name":"n","kind":"count","to":9,"serial":true,"shards":2}`:            {"shards", "serial"},
		`{"name":"n","kind":"count","to":9,"shards":17}`:                         {"shards", "in_flight"},
		`{"name":"n","kind":"count","to":9,"window":20000}`:                      {"window", "between"},
		`{"name":"n","kind":"count","to":9,"on_exhausted":"cry"}`:                {"on_exhausted", "abandon"},
		`{"name":"n","kind":"count","to":9,"error_budget":{"percent":101}}`:      {"error_budget.percent", "between"},
		`{"name":"n","kind":"count","to":9,"gate":{"before_run":"ftp://x"}}`:     {"gate.before_run", ""},
		`{"name":"n","kind":"count","source":{"file":"/a","url":"http://b"}}`:    {"source", "one of"},
		`{"name":"n","kind":"count","source":{"table":{"name":"t","key":"id"}}}`: {"source.table.database", "is required"},
		`{"name":"n","kind":"count","to":9,"version":1}`:                         {"version", "server"},
		`{"name":"n","kind":"count","to":9,"ref":"m"}`:                           {"ref", "omit it"},
		`{"name":"n","kind":"count","to":9,"colour":1}`:                          {"colour", "is not a known field"},
	} {
		problem, _ := a.send(400, "POST", sweeps, body)
		if got, named := refusals(problem)[want[0]]; !named || !strings.Contains(got, want[1]) {
			t.Errorf("%.100s is refused as %v, want %v", body, problem, want)
		}
	}
	a.send(200, "POST", sweeps, `{"name":"n","kind":"count","to":9}`)
	a.send(409, "POST", sweeps, `{"name":"n","kind":"count","to":9}`)
	a.send(400, "GET", sweeps+"?state=odd", "")
	a.send(400, "PUT", sweeps+"/n/data", `{}`)
}

// Files and tables belong to no tenant, and actions are recorded in the audit log.
func TestSweepsKnowTheirCallers(t *testing.T) {
	a := newGuardedAPI(t)
	as := func(want int, role access.Role, tenant, verb, path, body string) map[string]any {
		t.Helper()
		answer, _ := a.send(want, verb, path, body, "Authorization", "Bearer "+a.token(role, tenant))
		return answer
	}
	list := `{"name":"list","kind":"count","tenant":"acme","source":{"file":"/lists/users"}}`
	as(403, "operator", "acme", "POST", sweeps, list)
	as(200, "operator", "", "POST", sweeps, list)
	as(200, "operator", "acme", "PATCH", sweeps+"/list", `{"rate":5}`)
	as(403, "operator", "acme", "PATCH", sweeps+"/list", `{"source":{"file":"/lists/others"}}`)
	as(403, "operator", "acme", "PATCH", sweeps+"/list", `{"tenant":"zeta"}`)
	as(404, "operator", "zeta", "PATCH", sweeps+"/list", `{"rate":5}`)
	as(403, "operator", "zeta", "POST", sweeps, `{"name":"other","kind":"count","tenant":"acme","to":9,"gate":{"before_create":"http://127.0.0.1:1"}}`)
	as(200, "operator", "acme", "POST", sweeps+"/list/start", `{}`)
	as(200, "submitter", "acme", "POST", sweeps+"/list/stop", `{"reason":"lunch"}`)
	starting := `{"jobs":[{"kind":"sweep.start","tenant":"acme","args":{"sweep":"list"}}]}`
	as(403, "submitter", "acme", "POST", "/api/v1/jobs", starting)
	problem := as(400, "operator", "acme", "POST", sweeps, `{"name":"asked","kind":"count","tenant":"acme","to":9,"gate":{"before_create":"http://127.0.0.1:1"}}`)
	if !strings.Contains(refusals(problem)["gate.before_create"], "not allowed") {
		t.Errorf("who may not be asked is refused as %v", problem)
	}
	history := as(200, "viewer", "acme", "GET", sweeps+"/list/history", "")
	if got := items(t, history); len(got) < 4 || got[len(got)-2]["action"] != "set" || got[len(got)-2]["by"] != "operator acme" {
		t.Errorf("its history is %v", history)
	}
	entries := items(t, as(200, "admin", "", "GET", "/api/v1/audit", ""))
	var actions []string
	for _, entry := range entries {
		actions = append(actions, fmt.Sprint(entry["action"], " ", entry["subject"], " ", entry["tenant"]))
	}
	if got := strings.Join(actions, ", "); got != "StopSweep sweep:list acme, StartSweep sweep:list acme, PatchSweep sweep:list acme, CreateSweep sweep:list acme" {
		t.Errorf("written down is %s", got)
	}
}

func TestASweepOverItemsThatAreGivenWithIt(t *testing.T) {
	a, world := newCountingAPI(t)
	defer close(world.held)
	made, _ := a.send(200, "POST", sweeps, `{"name":"list","kind":"count","source":{"list":["ada","bob","eve"]}}`)
	source, _ := made["source"].(map[string]any)
	if source["list"] != nil || source["listed"] != "3" || source["digest"] == nil || made["to"] != "3" {
		t.Errorf("it is %v", made)
	}
	changed, _ := a.send(200, "PATCH", sweeps+"/list", `{"rate":7}`)
	if jsonOf(t, changed["source"]) != jsonOf(t, made["source"]) {
		t.Errorf("after a change of its rate it goes over %v", changed["source"])
	}
	changed, _ = a.send(200, "PATCH", sweeps+"/list", `{"source":{"list":["ada","bob","eve","joe"]}}`)
	if jsonOf(t, changed["source"]) == jsonOf(t, made["source"]) || changed["to"] != "4" {
		t.Errorf("after a change of its list it is %v", changed)
	}
	for body, field := range map[string]string{
		`{"name":"n","kind":"count","source":{"listed":3,"digest":"x"}}`:                             "source.list",
		`{"name":"n","kind":"count","source":{"list":["a"],"file":"/lists/users"}}`:                  "source",
		`{"name":"n","kind":"count","to":2,"source":{"list":["a"]}}`:                                 "to",
		`{"name":"n","kind":"count","source":{"list":["a","` + strings.Repeat("x", 65537) + `"]}}`:   "source.list[1]",
		`{"name":"n","kind":"count","source":{"list":["a"` + strings.Repeat(`,"b"`, 100_000) + `]}}`: "source.list",
	} {
		problem, _ := a.send(400, "POST", sweeps, body)
		if refusals(problem)[field] == "" {
			t.Errorf("%.80s is refused as %v, want %s", body, problem, field)
		}
	}
	problem, _ := a.send(400, "PATCH", sweeps+"/list", `{"source":{"listed":9,"digest":"x"}}`)
	if refusals(problem)["source.list"] == "" {
		t.Errorf("a list that is not the stored one is refused as %v", problem)
	}
}
