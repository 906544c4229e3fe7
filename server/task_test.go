package server_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// sourceExample is the request that the first users of tasks were shown.
const sourceExample = `{
  "name":"sync_stats",
  "description":"统计同步",
  "cron_expr":"*/15 * * * * *",
  "exec_type":"SYNC",
  "http_method":"POST",
  "target_url":"http://svc.internal/api/sync",
  "headers_json":"{\"Content-Type\":\"application/json\"}",
  "body_template":"{\"run_id\":\"{{run_id}}\"}",
  "timeout_seconds":10,
  "max_concurrency":1,
  "concurrency_policy":"QUEUE",
  "overlap_action":"SKIP",
  "failure_action":"RUN_NEW"
}`

// wantFields expects fields of an answer.
func (a *api) wantFields(answer, want map[string]any) {
	a.Helper()
	for field, value := range want {
		if answer[field] != value {
			a.Errorf("%s is %v, want %v", field, answer[field], value)
		}
	}
}

func TestTheExampleOfTheSourceIsATask(t *testing.T) {
	a := newAPI(t)
	made, header := a.send(201, "POST", "/api/v1/tasks", sourceExample)
	want := map[string]any{
		"name": "sync_stats", "description": "统计同步", "cron_expr": "*/15 * * * * *", "exec_type": "SYNC", "http_method": "POST",
		"target_url": "http://svc.internal/api/sync", "headers_json": `{"Content-Type":"application/json"}`, "body_template": `{"run_id":"{{run_id}}"}`,
		"timeout_seconds": 10.0, "max_concurrency": 1.0, "concurrency_policy": "QUEUE", "overlap_action": "SKIP", "failure_action": "RUN_NEW",
		"timezone": "UTC", "status": "ENABLED", "callback_method": "POST", "callback_timeout_sec": 3600.0, "version": "1", "tenant": "default",
	}
	a.wantFields(made, want)
	if header.Get("ETag") != `"1"` || made["next_time"] == nil || made["created_at"] == nil {
		t.Errorf("it is made as %v, ETag %s", made, header.Get("ETag"))
	}
	for _, ref := range []string{made["id"].(string), "sync_stats"} {
		got, _ := a.send(200, "GET", "/api/v1/tasks/"+ref, "")
		a.wantFields(got, want)
	}
	a.send(409, "POST", "/api/v1/tasks", sourceExample) // the name is taken
	native, err := schedule.NewClient(a.store).Get(t.Context(), "sync_stats")
	if err != nil || native.Job.Kind != "http" || native.Job.MaxAttempts != 1 {
		t.Errorf("it is stored as %+v (%v)", native, err)
	}
}

func TestATaskHasDefaults(t *testing.T) {
	a := newAPI(t)
	made, _ := a.send(201, "POST", "/api/v1/tasks", `{"name":"n","cron_expr":"30 4 * * 1-5","target_url":"https://example.org/"}`)
	a.wantFields(made, map[string]any{
		"cron_expr": "0 30 4 * * 1-5", "timezone": "UTC", "exec_type": "SYNC", "http_method": "POST", "status": "ENABLED", "timeout_seconds": 15.0, "max_concurrency": 0.0,
		"concurrency_policy": "QUEUE", "overlap_action": "ALLOW", "failure_action": "RUN_NEW", "callback_method": "POST", "callback_timeout_sec": 3600.0,
		"headers_json": "{}", "body_template": "", "catch_up_mode": "NONE", "queue_depth": 100.0, "retry_policy_json": nil,
	})
}

func TestNullGivesAFieldOfATaskItsDefault(t *testing.T) {
	a := newAPI(t)
	bare, _ := a.send(201, "POST", "/api/v1/tasks", `{"name":"bare","cron_expr":"@daily","target_url":"https://example.org/"}`)
	full, _ := a.send(201, "POST", "/api/v1/tasks", `{"name":"full","cron_expr":"@daily","target_url":"https://example.org/","description":"d","timezone":"Europe/Paris",
		"exec_type":"ASYNC","http_method":"PUT","headers_json":{"X-A":"1"},"body_template":"{}","timeout_seconds":5,"retry_policy_json":{"max_attempts":3},
		"max_concurrency":2,"concurrency_policy":"SKIP","callback_timeout_sec":60,"overlap_action":"SKIP","failure_action":"SKIP","status":"DISABLED","tenant":"acme",
		"queue_depth":3,"catch_up_mode":"FULL","catch_up_limit":7,"catch_up_window_sec":60}`)
	path := "/api/v1/tasks/" + full["id"].(string)
	server := map[string]bool{"id": true, "name": true, "cron_expr": true, "target_url": true, "version": true, "created_at": true, "updated_at": true, "next_time": true}
	for field := range full {
		if server[field] {
			continue
		}
		want := maps.Clone(full)
		want[field] = bare[field]
		patched, _ := a.send(200, "PATCH", path, `{`+strconv.Quote(field)+`:null}`)
		for _, changed := range []string{"version", "updated_at", "next_time"} {
			want[changed] = patched[changed]
		}
		if field == "exec_type" {
			want["callback_timeout_sec"] = bare["callback_timeout_sec"] // it is not kept with SYNC
		}
		a.wantFields(patched, want)
		full = patched
	}
	for field, name := range map[string]string{"name": "name", "cron_expr": "cron_expr", "target_url": "target_url"} {
		problem, _ := a.send(400, "PATCH", path, `{`+strconv.Quote(field)+`:null}`)
		if !strings.Contains(jsonOf(t, problem), name) {
			t.Errorf("%s is cleared: %v", field, problem)
		}
	}
	a.send(200, "PATCH", path, `{"description":"kept","timezone":null}`)
	kept, _ := a.send(200, "GET", path, "")
	a.wantFields(kept, map[string]any{"description": "kept", "timezone": "UTC"})
}

func TestATaskIsChangedReplacedSwitchedAndRemoved(t *testing.T) {
	a := newAPI(t)
	made, _ := a.send(201, "POST", "/api/v1/tasks", sourceExample)
	path := "/api/v1/tasks/" + made["id"].(string)

	patched, _ := a.send(200, "PATCH", path, `{"exec_type":"ASYNC","callback_timeout_sec":60,"headers_json":{"X-A":"1"},"retry_policy_json":"{\"max_attempts\":3,\"backoff\":\"FIXED\",\"delay_seconds\":2}"}`)
	want := maps.Clone(made)
	maps.Copy(want, map[string]any{
		"exec_type": "ASYNC", "callback_timeout_sec": 60.0, "headers_json": `{"X-A":"1"}`, "version": "2",
		"retry_policy_json": `{"max_attempts":3,"backoff":"FIXED","delay_seconds":2,"jitter":false}`, "updated_at": patched["updated_at"],
	})
	a.wantFields(patched, want)

	// What was read can be written.
	raw := jsonOf(t, patched)
	again, _ := a.send(200, "PUT", path, raw)
	maps.Copy(want, map[string]any{"version": "3", "updated_at": again["updated_at"]})
	a.wantFields(again, want)
	a.send(409, "PUT", path, raw) // of an old version
	a.send(412, "PATCH", path, `{"description":"late"}`, "If-Match", `"1"`)
	a.send(400, "PUT", path, strings.Replace(sourceExample, "{", `{"id":"999999",`, 1))

	async, _ := a.send(200, "PATCH", path, `{"exec_type":"ASYNC","callback_method":"PUT"}`)
	a.wantFields(async, map[string]any{"exec_type": "ASYNC", "callback_method": "PUT"})
	still, _ := a.send(200, "PATCH", path, `{"description":"later"}`)
	a.wantFields(still, map[string]any{"callback_method": "PUT"})

	replaced, _ := a.send(200, "PUT", path, `{"name":"other","cron_expr":"@daily","target_url":"https://example.org/"}`)
	a.wantFields(replaced, map[string]any{"name": "other", "description": "", "exec_type": "SYNC", "callback_method": "POST", "overlap_action": "ALLOW", "headers_json": "{}", "retry_policy_json": nil, "max_concurrency": 0.0})

	for i, verb := range []string{"PATCH", "POST"} {
		off, _ := a.send(200, verb, path+"/disable", "")
		a.wantFields(off, map[string]any{"status": "DISABLED", "next_time": nil})
		on, _ := a.send(200, []string{"POST", "PATCH"}[i], path+"/enable", "{}")
		a.wantFields(on, map[string]any{"status": "ENABLED"})
	}
	off, _ := a.send(200, "PATCH", path, `{"status":"DISABLED"}`)
	a.wantFields(off, map[string]any{"status": "DISABLED", "name": "other"})

	run, _ := a.send(200, "POST", path+"/trigger", "")
	a.send(200, "DELETE", path, "")
	a.send(404, "GET", path, "")
	a.send(404, "POST", path+"/trigger", "")
	kept, _ := a.send(200, "GET", "/api/v1/runs/"+run["id"].(string), "")
	a.wantFields(kept, map[string]any{"task_id": made["id"], "trigger": "MANUAL", "status": "SCHEDULED", "attempt": 1.0})
}

func TestAChangeKeepsWhatATaskCannotSay(t *testing.T) {
	a := newAPI(t)
	client := schedule.NewClient(a.store)
	native, err := client.Put(t.Context(), schedule.Schedule{
		Name: "n", Cron: "@daily", Jitter: 5e9, Job: fairlead.Job{Kind: "http", Priority: 7, Args: []byte(`{"url":"https://example.org/","success":{"status":["304"]},"body":{"a":1}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := a.send(200, "GET", "/api/v1/tasks/n", "")
	a.wantFields(shown, map[string]any{"body_template": `{"a":1}`})
	a.send(200, "PUT", "/api/v1/tasks/n", `{"name":"n","cron_expr":"@hourly","target_url":"https://example.org/x"}`)
	after, err := client.ByID(t.Context(), native.ID)
	if err != nil || after.Jitter != native.Jitter || after.Job.Priority != 7 || !strings.Contains(string(after.Job.Args), "304") {
		t.Errorf("it is now %+v (%v)", after, err)
	}
}

func TestWhatIsNoTaskIsRefusedByField(t *testing.T) {
	a := newAPI(t)
	for change, field := range map[string]string{
		`"misfire_policy":"FIRE_NOW"`:                       "misfire_policy",
		`"catchup_limit":3`:                                 "catchup_limit",
		`"cron_expr":"61 * * * * *"`:                        "cron_expr",
		`"cron_expr":""`:                                    "cron_expr",
		`"timezone":"Mars/Olympus"`:                         "timezone",
		`"exec_type":"LATER"`:                               "exec_type",
		`"overlap_action":"skip"`:                           "overlap_action",
		`"status":"ON"`:                                     "status",
		`"target_url":"svc.internal"`:                       "target_url",
		`"http_method":"CONNECT"`:                           "http_method",
		`"headers_json":"{"`:                                "headers_json",
		`"headers_json":{"A":1}`:                            "headers_json",
		`"headers_json":{"A":"x\ny"}`:                       "headers_json.A",
		`"body_template":"{{nonsense}}"`:                    "body_template",
		`"timeout_seconds":-1`:                              "timeout_seconds",
		`"timeout_seconds":"soon"`:                          "timeout_seconds",
		`"max_concurrency":-1`:                              "max_concurrency",
		`"callback_method":"GET"`:                           "callback_method",
		`"retry_policy_json":{"max_attempts":0,"x":1}`:      "retry_policy_json.x",
		`"retry_policy_json":{"backoff":"FIXED"}`:           "retry_policy_json.max_attempts",
		`"version":3`:                                       "version",
		`"id":3`:                                            "id",
		`"tenant":"` + strings.Repeat("x", 201) + `"`:       "tenant",
		`"description":"` + strings.Repeat("x", 2001) + `"`: "description",
	} {
		base := map[string]string{"name": `"name":"n"`, "cron_expr": `"cron_expr":"* * * * *"`, "target_url": `"target_url":"https://example.org/"`}
		name, _, _ := strings.Cut(strings.Trim(change, `"`), `"`)
		delete(base, name)
		body := "{" + strings.Join(append(slices.Collect(maps.Values(base)), change), ",") + "}"
		problem, _ := a.send(400, "POST", "/api/v1/tasks", body)
		errors, _ := problem["errors"].([]any)
		if len(errors) != 1 || errors[0].(map[string]any)["field"] != field {
			t.Errorf("%s: %v, want %s refused", change, problem, field)
		}
	}
	problem, _ := a.send(400, "POST", "/api/v1/tasks", "{}")
	if errors := problem["errors"].([]any); len(errors) != 3 {
		t.Errorf("an empty task: %v", errors)
	}
}

func TestOnlyTasksAreListed(t *testing.T) {
	a := newAPI(t)
	client := schedule.NewClient(a.store)
	for _, s := range []schedule.Schedule{{Name: "b", Cron: "@daily", Job: fairlead.Job{Kind: "noop"}}, {Name: "d", Every: 1e10, Job: fairlead.Job{Kind: "http", Args: []byte(`{"url":"https://example.org/"}`)}}} {
		if _, err := client.Put(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		a.send(404, "GET", "/api/v1/tasks/"+s.Name, "")
	}
	for _, name := range []string{"a", "c", "e"} {
		a.send(201, "POST", "/api/v1/tasks", `{"name":"`+name+`","cron_expr":"@daily","target_url":"https://example.org/"}`)
	}
	a.send(200, "POST", "/api/v1/tasks/c/disable", "")
	names := func(query string) (found string) {
		for token, more := "", true; more; more = token != "" {
			page, _ := a.send(200, "GET", "/api/v1/tasks?"+query+"&page_token="+token, "")
			for _, item := range page["items"].([]any) {
				found += item.(map[string]any)["name"].(string)
			}
			token, _ = page["next_page_token"].(string)
		}
		return found
	}
	for query, want := range map[string]string{"page_size=1": "ace", "page_size=2": "ace", "": "ace", "status=DISABLED": "c", "status=ENABLED&page_size=1": "ae", "tenant=nobody": ""} {
		if got := names(query); got != want {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
}

func TestRunsOfATaskAreListedReadAndCancelled(t *testing.T) {
	a := newAPI(t)
	a.send(201, "POST", "/api/v1/tasks", `{"name":"n","cron_expr":"@yearly","target_url":"https://example.org/","max_concurrency":1,"queue_depth":1}`)
	var ids []any
	for range 3 { // one that may go, one that is queued, one that is skipped
		run, _ := a.send(200, "POST", "/api/v1/tasks/n/trigger", "{}")
		ids = append([]any{run["id"]}, ids...)
	}
	var listed []any
	for token, more := "", true; more; more = token != "" {
		page, _ := a.send(200, "GET", "/api/v1/tasks/n/runs?page_size=2&page_token="+token, "")
		for _, item := range page["items"].([]any) {
			listed = append(listed, item.(map[string]any)["id"])
		}
		token, _ = page["next_page_token"].(string)
	}
	if !slices.Equal(listed, ids) {
		t.Errorf("listed are %v, want %v", listed, ids)
	}
	path := func(i int) string { return "/api/v1/runs/" + ids[i].(string) }
	skipped, _ := a.send(200, "GET", path(0), "")
	a.wantFields(skipped, map[string]any{"status": "SKIPPED", "skip_reason": "CONCURRENT_SKIP", "error": nil, "started_at": nil})
	a.send(409, "POST", path(0)+"/cancel", "{}")
	cancelled, _ := a.send(200, "POST", path(1)+"/cancel", `{"reason":"not needed"}`)
	a.wantFields(cancelled, map[string]any{"status": "CANCELED", "error": "not needed", "error_class": "canceled"})
	job := a.enqueue(`{"kind":"noop"}`)
	other := strings.Replace(job, "jobs", "runs", 1)
	a.send(404, "GET", other, "")
	a.send(404, "POST", other+"/cancel", "{}")
	a.send(400, "GET", "/api/v1/tasks/n/runs?page_token=x", "")
}

func TestTheAuditLogKnowsTasksButNotTheirBodies(t *testing.T) {
	a := newAPI(t)
	a.send(201, "POST", "/api/v1/tasks", strings.Replace(sourceExample, "{{run_id}}", "hunter2", 1))
	a.send(200, "PATCH", "/api/v1/tasks/sync_stats", `{"headers_json":{"Authorization":"hunter2"}}`)
	run, _ := a.send(200, "POST", "/api/v1/tasks/sync_stats/trigger", "")
	a.send(200, "POST", "/api/v1/runs/"+run["id"].(string)+"/cancel", "{}")
	log, _ := a.send(200, "GET", "/api/v1/audit", "")
	text := jsonOf(t, log)
	for _, want := range []string{"CreateTask", "PatchTask", "task:sync_stats", "TriggerTask", "CancelTaskRun", "taskrun:" + run["id"].(string)} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the log", want)
		}
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("the log knows a secret: %s", text)
	}
}
