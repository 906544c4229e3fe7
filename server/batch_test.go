package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/server"
)

func TestABatchIsCreatedRetriedAndRolledBack(t *testing.T) {
	a, world := newPaintedAPI(t)
	world.colours["1"], world.colours["2"], world.colours["3"] = "white", "grey", "green"
	world.dry("3", false)
	made, _ := a.send(200, "POST", batches, `{"name":"all red","type":"paint","creator":"ada","env":"live","region":"default","az":"a1","service":"house","info":{"n":1},
		"max_running":2,"timeout":"5s","tasks":[
		{"target":{"id":"1","type":"wall","name":"north"},"after":{"colour":"red"}},
		{"target":{"id":"2","type":"wall"},"before":{"colour":"blue"},"after":{"colour":"red"}},
		{"target":{"id":"3","type":"wall"},"after":{"colour":"red"}}]}`)
	wantFields(t, made, map[string]any{
		"name": "all red", "type": "paint", "creator": "ada", "env": "live", "queue": "default", "az": "a1", "service": "house", "tenant": "default",
		"max_running": 2.0, "timeout": "5s", "total": 3.0,
	})
	path := batches + "/" + made["id"].(string)
	failed := a.untilState(path, "partial_fail")
	wantFields(t, failed, map[string]any{"done": 3.0, "progress": 1.0, "completions": 1.0})
	if tallyOf(failed, "success") != 2 || tallyOf(failed, "fail") != 1 || failed["ended_at"] == nil || failed["eta"] != nil {
		t.Errorf("it ended as %v", failed)
	}
	tasks, _ := a.send(200, "GET", path+"/tasks?state=fail&state=cancel", "")
	if got := items(t, tasks); len(got) != 1 || got[0]["info"] != "the wall is wet" || got[0]["target"].(map[string]any)["id"] != "3" || got[0]["batch_id"] != made["id"] {
		t.Errorf("failed tasks are %v", tasks)
	}
	job, _ := a.send(200, "GET", "/api/v1/jobs/"+items(t, tasks)[0]["job_id"].(string), "")
	wantFields(t, job, map[string]any{"batch_id": made["id"], "kind": "wall.paint"})

	world.dry("3", true)
	a.send(200, "POST", path+"/retry", `{}`)
	a.untilState(path, "success")
	a.send(409, "POST", path+"/retry", `{}`)
	a.send(409, "POST", path+"/cancel", `{}`)

	plan, _ := a.send(200, "POST", path+"/rollback", `{"dry_run":true}`)
	undone := plan["would_undo"].([]any)
	if plan["state"] != "success" || plan["would_undo_total"] != 3.0 || len(undone) != 3 || world.colour("1") != "red" {
		t.Fatalf("a dry run answered %v", plan)
	}
	last := undone[0].(map[string]any)
	if last["target"].(map[string]any)["id"] != "3" || last["before"].(map[string]any)["colour"] != "green" {
		t.Errorf("what ended last is undone as %v", last)
	}
	a.send(200, "POST", path+"/rollback", `{"tasks":[`+last["id"].(string)+`]}`)
	a.eventually("one task is rolled back", func() bool { return world.colour("3") == "green" })
	a.send(404, "POST", path+"/rollback", `{"tasks":[1000000]}`)
	a.untilState(path, "success") // what was rolled back counts no more
	a.send(200, "POST", path+"/rollback", `{"serial":true}`)
	a.untilState(path, "rollback_success")
	if world.colour("1") != "white" || world.colour("2") != "blue" {
		t.Errorf("rolled back to %v", world.colours)
	}
}

func TestABatchIsPausedApprovedPacedAndCancelled(t *testing.T) {
	a, world := newPaintedAPI(t)
	world.held = make(chan struct{})
	var tasks []string
	for i := range 8 {
		tasks = append(tasks, fmt.Sprintf(`{"target":{"id":"%d","type":"wall"},"after":{"colour":"red"}}`, i))
	}
	made, _ := a.send(200, "POST", batches, `{"name":"slowly","type":"paint","canary":{"tasks":2},"stop_after":{"failures":3},"tasks":[`+strings.Join(tasks, ",")+`]}`)
	path := batches + "/" + made["id"].(string)
	stream := a.watch(path + "/watch")
	a.eventually("the canary runs", func() bool {
		batch, _ := a.send(200, "GET", path, "")
		return tallyOf(batch, "running") == 2
	})
	close(world.held)
	var waits map[string]any
	a.eventually("the canary has ended", func() bool {
		waits, _ = a.send(200, "GET", path, "")
		return waits["awaiting"] == true
	})
	if waits["done"] != 2.0 || waits["progress"] != 0.25 {
		t.Errorf("it waits as %v", waits)
	}
	paused, _ := a.send(200, "POST", path+"/pause", `{"reason":"lunch"}`)
	wantFields(t, paused, map[string]any{"paused": true, "reason": "lunch"})
	changed, _ := a.send(200, "PATCH", path, `{"max_running":1,"rate":5.5}`)
	wantFields(t, changed, map[string]any{"max_running": 1.0, "rate": 5.5})
	refused, _ := a.send(400, "PATCH", path, `{}`)
	if refusals(refused)["max_running"] == "" {
		t.Errorf("no change is refused as %v", refused)
	}
	a.send(400, "PATCH", path, `{"rate":-1}`)
	resumed, _ := a.send(200, "POST", path+"/resume", `{}`)
	if resumed["paused"] != nil || resumed["awaiting"] != true {
		t.Errorf("resumed, it is %v", resumed)
	}
	listed, _ := a.send(200, "GET", batches+"?open=true&type=paint&name=slowly&queue=default&tenant=default", "")
	if got := items(t, listed); len(got) != 1 || got[0]["id"] != made["id"] {
		t.Errorf("open are %v", listed)
	}
	a.send(200, "POST", path+"/approve", `{}`)
	cancelled, _ := a.send(200, "POST", path+"/cancel", `{"reason":"enough"}`)
	wantFields(t, cancelled, map[string]any{"state": "cancel", "reason": "enough"})
	for _, action := range []string{"approve", "cancel", "pause", "resume"} {
		a.send(409, "POST", path+"/"+action, `{}`)
	}
	a.eventually("it has completed", func() bool {
		batch, _ := a.send(200, "GET", path, "")
		return batch["ended_at"] != nil
	})
	last := ""
	for stream.Scan() {
		if data, is := strings.CutPrefix(stream.Text(), "data: "); is {
			last = data
		}
	}
	if !strings.Contains(last, `"state":"cancel"`) || !strings.Contains(last, `"ended_at"`) {
		t.Errorf("who watched saw %s at last", last)
	}
	listed, _ = a.send(200, "GET", batches+"?open=true", "")
	if len(items(t, listed)) != 0 {
		t.Errorf("open are %v", listed)
	}
}

// watch reads a stream of events.
func (a *api) watch(path string) *bufio.Scanner {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), http.MethodGet, a.url+path, http.NoBody)
	if err != nil {
		a.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

func TestABatchThatCannotBeIsRefused(t *testing.T) {
	a, _ := newPaintedAPI(t)
	task := `"tasks":[{"target":{"id":"1","type":"wall"}}]`
	for body, want := range map[string][2]string{
		`{"name":"n","type":"sand",` + task + `}`:                                                  {"type", "start a node that registers an operation for it"},
		`{"name":"n","type":"paint","tasks":[{"target":{"id":"1","type":"roof"}}]}`:                {"tasks[0].target.type", "no live node handles"},
		`{"name":"n","type":"paint"}`:                                                              {"tasks", "at least one"},
		`{"name":"n","type":"paint","tasks":[]}`:                                                   {"tasks", "at least one"},
		`{"type":"paint",` + task + `}`:                                                            {"name", "is required"},
		`{"name":"n","type":"paint","queue":"a","region":"b",` + task + `}`:                        {"region", "both names refer to the same field: set only one"},
		`{"name":"n","type":"paint","tasks":[{"target":{"id":"1"}}]}`:                              {"tasks[0].target.type", "is required"},
		`{"name":"n","type":"paint","tasks":[{}]}`:                                                 {"tasks[0].target", "is required"},
		`{"name":"n","type":"paint","canary":{"ratio":0.5},` + task + `}`:                          {"canary.ratio", "requires canary.tasks"},
		`{"name":"n","type":"paint","stop_after":{"percent":101},` + task + `}`:                    {"stop_after.percent", "between"},
		`{"name":"n","type":"paint","notify":"ftp://x",` + task + `}`:                              {"notify", ""},
		`{"name":"n","type":"paint","then":[{"job":{"kind":"noop","key":"k"}}],` + task + `}`:      {"then[0]", "must not have a key, a concurrency key or a start time"},
		`{"name":"n","type":"paint","then":[{}],` + task + `}`:                                     {"then[0].job", "is required"},
		`{"name":"n","type":"paint","state":"success",` + task + `}`:                               {"state", "is not a known field"},
		`{"name":"n","type":"paint","rate":-1,` + task + `}`:                                       {"rate", "between"},
		`{"name":"n","type":"paint","tasks":[{"target":{"id":"1","type":"wall"},"colour":"red"}]}`: {"tasks[0].colour", "is not a known field"},
		`{"name":"n","type":"paint","tenant":"` + strings.Repeat("x", 201) + `",` + task + `}`:     {"tenant", "200"},
		`{"name":"n","type":"paint","info":"` + strings.Repeat("x", 70_000) + `",` + task + `}`:    {"info", "at most"},
		`{"name":"n","type":"paint","timeout":"48h",` + task + `}`:                                 {"timeout", "between"},
	} {
		problem, _ := a.send(400, "POST", batches, body)
		if got, named := refusals(problem)[want[0]]; !named || !strings.Contains(got, want[1]) {
			t.Errorf("%.100s is refused as %v, want %v", body, problem, want)
		}
	}
	listed, _ := a.send(200, "GET", batches, "")
	if len(items(t, listed)) != 0 {
		t.Errorf("refused, they are %v", listed)
	}
	a.send(404, "GET", batches+"/77", "")
	a.send(404, "GET", batches+"/77/tasks", "")
	a.send(404, "GET", batches+"/77/watch", "")
	a.send(400, "GET", batches+"/red", "")
}

func TestTasksAreUploadedLineByLine(t *testing.T) {
	a, world := newPaintedAPI(t)
	table := "target_id,target_name,target_type,target_env,before,after\n" +
		"1,north,wall,live,,\"{\"\"colour\"\":\"\"red\"\"}\"\n\n" +
		"2,,wall,,\"{\"\"colour\"\":\"\"blue\"\"}\",\"{\"\"colour\"\":\n\"\"red\"\"}\"\n"
	made, _ := a.send(200, "POST", batches+"/upload?name=csv&type=paint&max_running=1&canary.tasks=1&canary.ratio=1&info=%7B%22n%22:1%7D", table, "Content-Type", "text/csv")
	wantFields(t, made, map[string]any{"name": "csv", "total": 2.0, "max_running": 1.0})
	a.untilState(batches+"/"+made["id"].(string), "success")
	tasks, _ := a.send(200, "GET", batches+"/"+made["id"].(string)+"/tasks", "")
	first := items(t, tasks)[0]["target"].(map[string]any)
	wantFields(t, first, map[string]any{"id": "1", "name": "north", "type": "wall", "env": "live"})

	for kind, body := range map[string]string{
		"text/csv":             "\ufeffTarget_ID, target_type ,after\n1,wall,\"\"\"" + strings.Repeat("x", 100<<10) + "\"\"\"\n", // as some programs begin and write tables
		"application/x-ndjson": `{"target":{"id":"1","type":"wall"},"after":"` + strings.Repeat("x", 100<<10) + `"}`,
	} {
		made, _ := a.send(200, "POST", batches+"/upload?type=paint&name=long", body, "Content-Type", kind)
		wantFields(t, made, map[string]any{"total": 1.0})
	}
	for _, kind := range []string{"", "text/plain; charset=utf-8", "application/octet-stream"} { // what it looks like counts
		for name, body := range map[string]string{"table": "target_id,target_type\n1,wall\n", "lines": `{"target":{"id":"1","type":"wall"}}`} {
			made, _ := a.send(200, "POST", batches+"/upload?type=paint&name="+name, body, "Content-Type", kind)
			wantFields(t, made, map[string]any{"name": name, "total": 1.0})
		}
	}
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	fmt.Fprintln(packer, `{"name":"lines","type":"paint","then":[{"job":{"kind":"noop"}}]}`)
	const many = 1234
	for i := range many {
		fmt.Fprintf(packer, `{"target":{"id":"w%d","type":"wall"},"after":{"colour":"pink"}}`+"\n", i)
	}
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	made, _ = a.send(200, "POST", batches+"/upload?creator=ada", packed.String(), "Content-Encoding", "gzip", "Content-Type", "application/x-ndjson")
	wantFields(t, made, map[string]any{"name": "lines", "creator": "ada", "total": float64(many)})
	a.untilState(batches+"/"+made["id"].(string), "success")
	if world.colour("w1233") != "pink" {
		t.Error("the last wall is not painted")
	}
	seen, token := 0, ""
	for {
		page, _ := a.send(200, "GET", batches+"/"+made["id"].(string)+"/tasks?page_size=1000&page_token="+token, "")
		seen += len(items(t, page))
		if token, _ = page["next_page_token"].(string); token == "" {
			break
		}
	}
	if seen != many {
		t.Errorf("%d tasks are listed", seen)
	}
}

func TestABadLineIsNamed(t *testing.T) {
	a, _ := newPaintedAPI(t)
	upload := batches + "/upload?name=n&type=paint"
	for _, bad := range []struct{ query, kind, body, field, message string }{
		{upload, "text/csv", "target_id,target_type\n1,wall\n2,roof\n", "line 3, target_type", "no live node"},
		{upload, "text/csv", "target_id,target_type\n1,wall\n,wall\n", "line 3, target_id", ""},
		{upload, "text/csv", "target_id,target_type\n1,wall\n2\n", "line 3", "wrong number of fields"},
		{upload, "text/csv", "target_id,target_type,after\n1,wall,{\n", "line 2, after", ""},
		{upload, "text/csv", "target_id,target_type\n\"1,wall\n", "line 2", ""},
		{upload, "text/csv", "target_id,colour\n", "line 1, colour", "is not a known column"},
		{upload, "text/csv", "target_id,target_id\n", "line 1, target_id", "twice"},
		{upload, "text/csv", "target_id\n", "line 1, target_type", "missing"},
		{upload, "text/csv", "", "line 1", "columns"},
		{upload, "text/csv", "target_id,target_type\n", "tasks", "at least one"},
		{upload, "text/csv", "target_id,target_type\n" + strings.Repeat("x", 3<<20), "line 2", "longer"},
		{upload, "", `{"target":{"id":"1","type":"wall"}}` + "\n" + `{"target":{"id":"2","type":"roof"}}`, "line 2, target.type", "no live node"},
		{upload, "", `{"target":{"id":"1","type":"wall"}}` + "\n\n" + `{"target":`, "line 3", "JSON"},
		{upload, "", `{"target":{"id":"1","type":"wall"},"colour":1}`, "line 1, colour", "is not a known field"},
		{upload, "", `{"target":{"id":"1"}}`, "line 1, target.type", "is required"},
		{upload, "", `{"nonsense":1}`, "line 1, nonsense", "is not a known field"},
		{upload, "", `{"name":"m","tasks":[{"target":{"id":"1","type":"wall"}}]}`, "line 1, tasks", "own"},
		{upload, "application/x-ndjson", strings.Repeat("x", 2<<20), "line 1", "longer"},
		{upload, "application/x-ndjson", "", "tasks", "at least one"},
		{upload, "", "", "line 1", "columns"},
		{batches + "/upload?type=paint", "text/csv", "target_id,target_type\n1,wall\n", "name", "is required"},
		{batches + "/upload?name=n&type=sand", "text/csv", "target_id,target_type\n1,wall\n", "type", "no live node"},
		{upload + "&colour=red", "text/csv", "target_id,target_type\n1,wall\n", "colour", "is not a known parameter"},
		{upload + "&canary.colour=red", "text/csv", "target_id,target_type\n1,wall\n", "canary.colour", "is not a known parameter"},
		{upload + "&canary=1", "text/csv", "target_id,target_type\n1,wall\n", "canary", "cannot be given in the URL"},
		{upload + "&stop_after=1", "text/csv", "target_id,target_type\n1,wall\n", "stop_after", "cannot be given in the URL"},
		{upload + "&stop_after.percent=101", "text/csv", "target_id,target_type\n1,wall\n", "stop_after.percent", "between"},
		{upload + "&other.tasks=1", "text/csv", "target_id,target_type\n1,wall\n", "other.tasks", "is not a known parameter"},
		{upload + "&info=%7B", "text/csv", "target_id,target_type\n1,wall\n", "info", ""},
		{upload + "&rate=-1", "text/csv", "target_id,target_type\n1,wall\n", "rate", "between"},
	} {
		problem, _ := a.send(400, "POST", bad.query, bad.body, "Content-Type", bad.kind)
		if got, named := refusals(problem)[bad.field]; !named || !strings.Contains(got, bad.message) {
			t.Errorf("%s with %.60q is refused as %v, want %s: %s", bad.query, bad.body, problem, bad.field, bad.message)
		}
	}
	a.send(415, "POST", upload, "x", "Content-Type", "multipart/form-data")
	a.send(415, "POST", upload, "x", "Content-Encoding", "br")
	listed, _ := a.send(200, "GET", batches, "")
	if len(items(t, listed)) != 0 {
		t.Errorf("refused, they are %v", listed)
	}
}

// Uploads are checked like all other calls: callers that may not create batches are
// rejected before anything is read, and uploads are recorded in the audit log.
func TestUploadsKnowTheirCallers(t *testing.T) {
	a := newGuardedAPI(t)
	path := batches + "/upload?name=n&type=paint&tenant=acme"
	table := "target_id,target_type\n1,wall\n"
	as := func(want int, secret string) {
		t.Helper()
		a.send(want, "POST", path, table, "Content-Type", "text/csv", "Authorization", secret)
	}
	as(401, "")
	as(403, "Bearer "+a.token("viewer", ""))
	as(403, "Bearer "+a.token("submitter", "zeta"))
	as(403, "Bearer "+a.token("worker", ""))
	as(200, "Bearer "+a.token("submitter", "acme"))
	as(200, "Bearer "+a.token("admin", ""))
	log, _ := a.send(200, "GET", "/api/v1/audit", "", "Authorization", "Bearer "+a.token("admin", ""))
	entries := items(t, log)
	if len(entries) != 2 || entries[0]["action"] != "CreateBatch" || entries[0]["tenant"] != "acme" || entries[0]["subject"] != "batch:n" {
		t.Errorf("written down is %v", log)
	}
}

func TestEventsTellOfBatches(t *testing.T) {
	a, _ := newPaintedAPI(t)
	events := a.watch("/api/v1/events")
	untilStats := func() {
		for events.Scan() && !strings.Contains(events.Text(), `"type":"stats"`) {
			continue
		}
	}
	untilStats()
	a.enqueue(`{"kind":"unknown"}`)
	untilStats() // another look: what comes now is news
	made, _ := a.send(200, "POST", batches, `{"name":"n","type":"paint","canary":{"tasks":1},"tasks":[{"target":{"id":"1","type":"wall"},"after":{"colour":"red"}},{"target":{"id":"2","type":"wall"},"after":{"colour":"red"}}]}`)
	told := func(state string) {
		t.Helper()
		for events.Scan() {
			if text := events.Text(); strings.Contains(text, `"type":"batch"`) && strings.Contains(text, `"change":"`+state+`"`) && strings.Contains(text, `"batch":{"id":"`+made["id"].(string)+`"`) {
				return
			}
		}
		t.Fatalf("no message said that it is %s", state)
	}
	told("running")
	a.send(200, "POST", batches+"/"+made["id"].(string)+"/approve", `{}`)
	told("success")
}

// unbegun is a store in which no batch may be begun.
type unbegun struct {
	server.Store
	t *testing.T
}

func (s unbegun) CreateBatch(_ context.Context, b batch.Batch) (batch.Batch, error) {
	s.t.Errorf("batch %s is begun", b.Name)
	return b, errors.New("it is not allowed")
}

func TestABatchWithoutTasksIsNotBegun(t *testing.T) {
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return unbegun{store, t} })
	submitter := a.as(a.token(access.RoleSubmitter, ""))
	a.send(400, "POST", batches, `{"name":"n","type":"paint"}`, submitter...)
	a.send(400, "POST", "/api/batch", `{"batch_name":"n","batch_type":"paint"}`, submitter...)
}
