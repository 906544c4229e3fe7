package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead/access"
	batchscheduler "github.com/fairlead-io/fairlead/api/batch_scheduler"
	"github.com/fairlead-io/fairlead/api/batch_scheduler/batchschedulerconnect"
)

func TestABatchUnderItsOtherNames(t *testing.T) {
	a, world := newPaintedAPI(t)
	world.dry("77", false)
	made, _ := a.send(201, "POST", "/api/batch", `{"batch_name":"repaint","batch_type":"paint","creator":"ada","cmdb_service":"house","env":"live","region":"default","az":"a1",
		"extra_info":{"ticket":"T-1"},"tasks":[
		{"target_id":75,"target_name":"north","target_type":"wall","target_env":"live","target_param":{"before_update":{"colour":"white"},"after_update":{"colour":"red"}}},
		{"target_id":"76","target_type":"wall","target_param":"{\"before_update\":{\"colour\":\"grey\"},\"after_update\":{\"colour\":\"red\"}}"},
		{"target_id":77,"target_type":"wall","target_param":{"before_update":"{\"colour\":\"green\"}","after_update":"{\"colour\":\"red\"}"}},
		{"target_id":78,"target_type":"wall","target_param":{"before_update":{},"after_update":{"colour":"red"}}}]}`)
	if len(made) != 2 || made["batch_id"] == "" || made["status"] != "pending" && made["status"] != "running" {
		t.Fatalf("made, it answers %v", made)
	}
	path := "/api/batch/" + made["batch_id"].(string)
	var batch map[string]any
	a.eventually("it has ended", func() bool {
		batch, _ = a.send(200, "GET", path, "")
		return batch["status"] == "partial_fail"
	})
	wantFields(t, batch, map[string]any{
		"batch_id": made["batch_id"], "batch_name": "repaint", "batch_type": "paint", "creator": "ada", "cmdb_service": "house", "env": "live", "region": "default", "az": "a1",
	})
	if batch["extra_info"].(map[string]any)["ticket"] != "T-1" {
		t.Errorf("extra_info is %v", batch["extra_info"])
	}
	tasks := listOf(batch, "tasks")
	if len(tasks) != 4 {
		t.Fatalf("its tasks are %v", tasks)
	}
	wantFields(t, tasks[0], map[string]any{
		"target_id": "75", "target_name": "north", "target_type": "wall", "target_env": "live", "status": "success", "info": "", "retry_time": 0.0, "version": "1",
	})
	wantFields(t, tasks[2], map[string]any{"target_id": "77", "status": "fail", "info": "the wall is wet"})
	for _, task := range tasks { // source 000, 4.2 BatchTask
		wantFields(t, task, map[string]any{"batch_id": made["batch_id"], "batch_type": "paint", "creator": "ada", "env": "live", "region": "default"})
	}
	for i, before := range []string{"white", "grey", "green", ""} {
		param := tasks[i]["target_param"].(map[string]any)
		if got := param["before_update"].(map[string]any)["colour"]; got != before || param["after_update"].(map[string]any)["colour"] != "red" {
			t.Errorf("the parameter of task %d is %v", i, param)
		}
	}
	for _, name := range []string{"task_id", "create_time", "update_time"} {
		if tasks[0][name] == nil {
			t.Errorf("%s is missing in %v", name, tasks[0])
		}
	}
	if _, err := time.Parse(time.RFC3339, batch["update_time"].(string)); err != nil {
		t.Error(err)
	}
	first, _ := a.send(200, "GET", path+"?page_size=3", "")
	rest, _ := a.send(200, "GET", path+"?page_size=3&page_token="+first["next_page_token"].(string), "")
	if len(listOf(first, "tasks")) != 3 || len(listOf(rest, "tasks")) != 1 || rest["next_page_token"] != nil {
		t.Errorf("the second page is %v", rest)
	}
	native, _ := a.send(200, "GET", batches+"/"+made["batch_id"].(string), "")
	wantFields(t, native, map[string]any{"name": "repaint", "service": "house", "queue": "default"})
	own, _ := a.send(200, "GET", batches+"/"+made["batch_id"].(string)+"/tasks", "")
	for _, task := range listOf(own, "items") {
		wantFields(t, task, map[string]any{"batch_id": made["batch_id"], "batch_type": "paint", "creator": "ada", "env": "live", "region": "default"})
	}
}

func TestABatchUnderItsOtherNamesIsRefusedByThem(t *testing.T) {
	a, _ := newPaintedAPI(t)
	const task = `"tasks":[{"target_id":1,"target_type":"wall"}]`
	for body, want := range map[string][2]string{
		`{"batch_type":"paint",` + task + `}`:                                                                                                           {"batch_name", "is required"},
		`{"batch_name":"n","batch_type":"sand",` + task + `}`:                                                                                           {"batch_type", "no live node"},
		`{"batch_name":"n","batch_type":"paint","tasks":[]}`:                                                                                            {"tasks", "is required"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":1,"target_type":"roof"}]}`:                                                        {"tasks[0].target_type", "no live node"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_type":"wall"}]}`:                                                                      {"tasks[0].target_id", "is required"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":{},"target_type":"wall"}]}`:                                                       {"tasks[0].target_id", "must be a string or a number"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":1,"target_type":"wall","target_param":"x"}]}`:                                     {"tasks[0].target_param", "object"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":1,"target_type":"wall","target_param":[1]}]}`:                                     {"tasks[0].target_param", "object"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":1,"target_type":"wall","target_param":{"then":{}}}]}`:                             {"tasks[0].target_param.then", "is not a known field; use before_update and after_update"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":1,"target_type":"wall","target_param":{"after_update":1}}]}`:                      {"tasks[0].target_param.after_update", "object"},
		`{"batch_name":"n","batch_type":"paint","tasks":[{"target_id":1,"target_type":"wall","target_param":{"after_update":{"colour":"invisible"}}}]}`: {"tasks[0].target_param.after_update.colour", "cannot be seen"},
		`{"batch_name":"n","batch_type":"*",` + task + `}`:                                                                                              {"batch_type", "stands for all"},
		`{"batch_name":"n","batch_type":"paint","extra_info":3,` + task + `}`:                                                                           {"extra_info", "object"},
		`{"batch_name":"n","batch_type":"paint","status":"success",` + task + `}`:                                                                       {"status", "set by the server"},
		`{"batch_name":"n","batch_type":"paint","region":"` + strings.Repeat("x", 201) + `",` + task + `}`:                                              {"region", "200"},
	} {
		problem, _ := a.send(400, "POST", "/api/batch", body)
		if got, named := refusals(problem)[want[0]]; !named || !strings.Contains(got, want[1]) {
			t.Errorf("%.100s is refused as %v, want %v", body, problem, want)
		}
	}
	a.send(404, "GET", "/api/batch/77", "")
}

// An event contains a complete batch in one field. Errors name that field, and other
// rejections are the same as everywhere.
func TestABatchInAnEventIsRefusedAsOneByItself(t *testing.T) {
	a := newGuardedAPI(t)
	plaintext := &http.Transport{Protocols: new(http.Protocols)}
	plaintext.Protocols.SetUnencryptedHTTP2(true)
	trigger := func(tenant, data string, wake int64) (*batchscheduler.TriggerEventResponse, error) {
		events := batchschedulerconnect.NewBatchSchedulerServiceClient(&http.Client{Transport: plaintext}, a.url)
		ctx, call := connect.NewClientContext(t.Context())
		call.RequestHeader().Set("Authorization", "Bearer "+a.token(access.RoleSubmitter, tenant))
		return events.TriggerEvent(ctx, &batchscheduler.TriggerEventRequest{EventType: batchscheduler.EventType_CREATE_BATCH, JobData: []byte(data), BatchId: wake})
	}
	good := `{"batch_name":"n","batch_type":"paint","tenant":"acme","tasks":[{"target_id":1,"target_type":"wall"}]}`
	made, err := trigger("acme", good, 0)
	if err != nil || made.GetBatchId() == 0 {
		t.Fatalf("it answers %v, %v", made, err)
	}
	if _, err := trigger("zeta", good, 0); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a batch of another tenant is %v", err)
	}
	for data, field := range map[string]string{
		`{`:                                  "job_data",
		`{"colour":"red"}`:                   "job_data.colour",
		`{"batch_name":"n"}`:                 "job_data.batch_type",
		strings.Replace(good, "wall", "", 1): "job_data.tasks[0].target_type",
		strings.Replace(good, "paint", "sand", 1):                       "job_data.batch_type",
		strings.Replace(good, `"target_id":1`, `"x":1`, 1):              "job_data.tasks[0].x",
		strings.Replace(good, `"tasks":[`, `"status":"s","tasks":[`, 1): "job_data.status",
	} {
		_, err := trigger("acme", data, 0)
		wantField(t, err, field)
	}
	_, err = trigger("acme", good, made.GetBatchId())
	wantField(t, err, "batch_id")
	_, err = trigger("acme", "", 0)
	wantField(t, err, "job_data")
	if woken, err := trigger("acme", "", made.GetBatchId()); err != nil || woken.GetBatchId() != made.GetBatchId() {
		t.Errorf("woken, it answers %v, %v", woken, err)
	}
	if _, err := trigger("acme", "", 77); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("a batch that does not exist is %v", err)
	}
}
