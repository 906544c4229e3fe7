package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
)

// canary is a value that no answer may show.
const canary = "4111-1111-canary"

// confided declares the confidential members in the tests: every member named secret.
var confided = fairlead.Confidential{
	"noop":        {"args.secret", "output.secret", "progress.secret", "memo.secret"},
	"http":        {"args.body.secret", "args.headers.secret", "args.vars", "output", "progress"},
	"wall.paint":  {"args.before.secret", "args.after.secret", "args.extra_info.secret"},
	"sweep.count": {"args.secret"},
}

func newConfidedAPI(t *testing.T) *eraseWorld {
	w := newEraseWorld(t)
	w.args = json.RawMessage(`{"secret":"` + canary + `"}`)
	if err := w.store.AddConfidential(t.Context(), confided); err != nil {
		t.Fatal(err)
	}
	return w
}

// withCanary puts the canary into a request of everyMethod.
func withCanary(text string) string {
	secret := `{"secret":"` + canary + `"}`
	return strings.NewReplacer(
		`"kind":"noop"`, `"kind":"noop","args":`+secret,
		`"kind":"count"`, `"kind":"count","args":`+secret,
		`"target":{"id":"1","type":"wall"}`, `"target":{"id":"1","type":"wall"},"after":`+secret,
		`"type":"paint"`, `"type":"paint","info":`+secret,
		`"batch_type":"paint"`, `"batch_type":"paint","extra_info":`+secret,
		`"target_id":1`, `"target_id":1,"target_param":{"after_update":`+secret+`}`,
		`"target_url":"http://svc.internal/"`, `"target_url":"http://svc.internal/","headers_json":`+secret+`,"body_template":"{\"secret\":\"`+canary+`\"}"`,
		`"url":"http://svc.internal/"`, `"url":"http://svc.internal/","headers":`+secret+`,"body":`+secret,
		`"args":{"n":1}`, `"args":`+secret,
		`"fence":1,"error":"no"`, `"error":"no `+canary+`"`,
		`"job":{`, `"alert":{"url":"http://svc.internal/","headers":`+secret+`,"body":`+secret+`},"job":{`,
	).Replace(text)
}

// answer returns the response of a method, or the beginning of its stream.
func (a *guardedAPI) answer(t *testing.T, method protoreflect.MethodDescriptor, rest bool, text, secret string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	verb, path, kind, body := http.MethodPost, fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name()), "application/json", []byte(text)
	switch {
	case rest:
		verb, path, body = a.restRequest(method, text)
	case method.IsStreamingServer():
		kind, body = "application/connect+json", frame(body)
	}
	response, err := a.open(ctx, verb, path, kind, body, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if !method.IsStreamingServer() {
		all, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	first := make([]byte, 64<<10)
	n, _ := io.ReadAtLeast(response.Body, first, 16) // more than what frames the first message
	return string(first[:n])
}

func TestNoAnswerShowsWhatIsConfidential(t *testing.T) {
	w := newConfidedAPI(t)
	admin := w.token(access.RoleAdmin, "")
	done := w.enqueue(fairlead.Job{Kind: "noop", Tenant: "acme", Args: w.args, MaxAttempts: 1})
	w.settle(done, fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "declined: " + canary, Memo: w.args, Progress: w.args})
	masked := map[protoreflect.Name]bool{}
	for _, method := range methods() {
		for _, rest := range []bool{true, false} {
			if rest && ruleOf(method) == nil {
				continue
			}
			text := w.fill(withCanary(everyMethod[method.Name()].request))
			answer := w.answer(t, method, rest, text, admin)
			if strings.Contains(answer, canary) {
				t.Errorf("%s (REST: %v) answers %s", method.Name(), rest, answer)
			}
			if strings.Contains(answer, "***") {
				masked[method.Name()] = true
			}
		}
	}
	for _, name := range []protoreflect.Name{
		"GetJob", "ListJobs", "WatchJob", "CancelJob", "RunJob", "RescheduleJob", "SetJobPriority", "CreateSchedule", "GetSchedule", "ListSchedules", "UpdateSchedule", "PatchSchedule",
		"EnableSchedule", "DisableSchedule", "CreateTask", "GetTask", "ListTasks", "PatchTask", "CreateBatch", "GetBatch", "ListBatches", "WatchBatch", "ListBatchTasks", "GetBatchJob",
		"CreateSweep", "GetSweep", "ListSweeps", "PatchSweep", "SetSweepData", "WatchSweep", "SetAlert", "ListAlerts",
	} {
		if !masked[name] {
			t.Errorf("%s answers no mask: does the test try it?", name)
		}
	}
	for _, path := range []string{fmt.Sprintf("/api/v1/jobs/%d", done.ID), fmt.Sprintf("/api/v1/jobs/%d/attempts", done.ID), "/api/v1/audit?page_size=1000"} {
		answer, _ := w.send(200, "GET", path, "", w.admin...)
		if text := fmt.Sprint(answer); strings.Contains(text, canary) || !strings.Contains(path, "audit") && !strings.Contains(text, "declined: ***") {
			t.Errorf("%s answers %s", path, text)
		}
	}
}

func TestWhatIsConfidentialIsRevealedToAdminsAndWrittenDown(t *testing.T) {
	w := newConfidedAPI(t)
	path := w.fill("/api/v1/jobs/JOB")
	shown, _ := w.send(200, "GET", path+"?reveal=true", "", w.admin...)
	if fmt.Sprint(shown["args"]) != "map[secret:"+canary+"]" {
		t.Errorf("an admin sees %v", shown)
	}
	entry := w.lastEntry()
	wantFields(t, entry, map[string]any{"action": "RevealJob", "actor": "admin ", "role": "admin", "subject": "job:" + strings.TrimPrefix(path, "/api/v1/jobs/"), "tenant": "acme"})
	if strings.Contains(fmt.Sprint(entry), canary) {
		t.Errorf("the entry shows it: %v", entry)
	}
	for _, role := range []access.Role{access.RoleViewer, access.RoleSubmitter, access.RoleOperator} {
		w.send(403, "GET", path+"?reveal=true", "", w.as(w.token(role, ""))...)
	}
	w.send(404, "GET", path+"?reveal=true", "", w.as(w.token(access.RoleAdmin, "zeta"))...)
	for _, other := range []string{"/attempts", "/explain", "/watch"} {
		problem, _ := w.send(400, "GET", path+other+"?reveal=true", "", w.admin...)
		if refusals(problem)["reveal"] == "" {
			t.Errorf("%s answers %v", other, problem)
		}
	}
	w.send(400, "POST", path+"/run", `{"reveal":true}`, w.admin...)
}

func TestTheConfidentialFieldsOfAKindAreSetAndListed(t *testing.T) {
	w := newConfidedAPI(t)
	path := w.fill("/api/v1/jobs/JOB")
	args := func() string {
		job, _ := w.send(200, "GET", path, "", w.admin...)
		return fmt.Sprint(job["args"])
	}
	if got := args(); got != "map[secret:***]" {
		t.Errorf("before: %s", got)
	}
	set, _ := w.send(200, "PUT", "/api/v1/kinds/noop", `{"confidential":[]}`, w.admin...)
	if got := args(); set["confidential"] != nil || got != "map[secret:"+canary+"]" {
		t.Errorf("when nothing is confidential: %v, %s", set, got)
	}
	set, _ = w.send(200, "PUT", "/api/v1/kinds/noop", `{"confidential":["args.*","args.*"]}`, w.admin...)
	if got := args(); fmt.Sprint(set["confidential"]) != "[args.*]" || got != "***" {
		t.Errorf("when all args are confidential: %v, %s", set, got)
	}
	kinds, _ := w.send(200, "GET", "/api/v1/kinds", "", w.admin...)
	if !slices.ContainsFunc(items(t, kinds), func(kind map[string]any) bool {
		return kind["name"] == "noop" && fmt.Sprint(kind["confidential"]) == "[args.*]"
	}) {
		t.Errorf("kinds are %v", kinds)
	}
	for _, path := range []string{"input.to", "args..to", "", "error"} {
		problem, _ := w.send(400, "PUT", "/api/v1/kinds/noop", jsonOf(t, map[string]any{"confidential": []string{path}}), w.admin...)
		if refusals(problem)["confidential"] == "" {
			t.Errorf("the path %q is answered with %v", path, problem)
		}
	}
}

func TestMasksThatComeBackStandForWhatIsStored(t *testing.T) {
	w := newConfidedAPI(t)
	path := w.fill("/api/v1/schedules/SCHEDULE")
	w.send(200, "PATCH", path, `{"alert":{"url":"http://svc.internal/","headers":{"secret":"`+canary+`"}}}`, w.admin...)
	shown, _ := w.send(200, "GET", path, "", w.admin...)
	delete(shown, "version")
	shown["job"].(map[string]any)["args"].(map[string]any)["more"] = 1
	for _, name := range []string{"id", "next_due", "next_fire", "created_at", "updated_at"} {
		delete(shown, name)
	}
	w.send(200, "PUT", path, jsonOf(t, shown), w.admin...)
	stored, err := w.schedules.List(t.Context(), schedule.Filter{})
	if err != nil || len(stored) != 1 {
		t.Fatalf("schedules are %v: %v", stored, err)
	}
	if got := string(stored[0].Job.Args); got != `{"more":1,"secret":"`+canary+`"}` || stored[0].Alert.Headers["secret"] != canary {
		t.Errorf("stored are %s and %v", got, stored[0].Alert)
	}

	for what, refused := range map[string][2]string{
		"jobs[0].args": {"/api/v1/jobs", `{"jobs":[{"kind":"noop","args":{"secret":"***"}}]}`},
		"job.args":     {"/api/v1/schedules", `{"name":"new","every":"1h","job":{"kind":"noop","args":{"secret":"***"}}}`},
		"args":         {"/api/v1/sweeps", `{"name":"new","kind":"count","to":9,"args":{"secret":"***"}}`},
		"args ":        {path + "/trigger", `{"args":{"secret":"***"}}`},
		"then[0].args": {"/api/v1/batches", `{"name":"new","type":"paint","tasks":[{"target":{"id":"1","type":"wall"}}],"then":[{"job":{"kind":"noop","args":{"secret":"***"}}}]}`},
		"tasks.after":  {"/api/v1/batches", `{"name":"new","type":"paint","tasks":[{"target":{"id":"1","type":"wall"},"after":{"secret":"***"}}]}`},
		"tasks.before": {"/api/v1/batches", `{"name":"new","type":"paint","tasks":[{"target":{"id":"1","type":"wall"},"before":{"secret":"***"}}]}`},
	} {
		problem, _ := w.send(400, "POST", refused[0], refused[1], w.admin...)
		if text := refusals(problem)[strings.TrimSpace(what)]; !strings.Contains(text, "enter the value") {
			t.Errorf("%s is answered with %v", refused[0], problem)
		}
	}
	problem, _ := w.send(400, "PUT", w.fill("/api/v1/sweeps/SWEEP/data"), `{"args":{"secret":"***"}}`, w.admin...)
	if refusals(problem)["args"] == "" {
		t.Errorf("args of a sweep are answered with %v", problem)
	}
}

func TestWorkersGetWhatIsConfidentialAndDeclareIt(t *testing.T) {
	w := newConfidedAPI(t)
	w.fill("JOB")
	secret := w.as(w.token(access.RoleWorker, ""))
	joined, _ := w.send(200, "POST", "/api/v1/workers", `{"kinds":["noop"],"slots":1,"defaults":[{"kind":"noop","confidential":["args.also"]}]}`, secret...)
	leased, _ := w.send(200, "POST", fmt.Sprintf("/api/v1/workers/%s/lease", joined["id"]), fmt.Sprintf(`{"session":%q,"max":1}`, joined["session"]), secret...)
	if !strings.Contains(fmt.Sprint(leased), canary) {
		t.Errorf("the worker gets %v", leased)
	}
	fields, err := w.store.Confidential(t.Context())
	if err != nil || !slices.Contains(fields["noop"], "args.also") || !slices.Contains(fields["noop"], "args.secret") {
		t.Errorf("confidential are %v: %v", fields, err)
	}
	w.send(400, "POST", "/api/v1/workers", `{"kinds":["noop"],"defaults":[{"kind":"noop","confidential":["nothing"]}]}`, secret...)
}

// forgetful is a store that fails to return the confidential fields.
type forgetful struct{ server.Store }

func (forgetful) Confidential(context.Context) (fairlead.Confidential, error) {
	return nil, fmt.Errorf("gone: %w", fairlead.ErrUnavailable)
}

func TestNothingIsShownIfItIsUnknownWhatIsConfidential(t *testing.T) {
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return forgetful{store} })
	a.args = json.RawMessage(`{"secret":"` + canary + `"}`)
	for _, path := range []string{"/api/v1/jobs/JOB", "/api/v1/jobs/JOB/attempts", "/api/v1/jobs", "/api/v1/schedules/SCHEDULE", "/api/v1/sweeps/SWEEP", "/api/v1/batches/BATCH/tasks"} {
		problem, _ := a.send(503, "GET", a.fill(path), "", a.as(a.token(access.RoleAdmin, ""))...)
		if strings.Contains(fmt.Sprint(problem), canary) {
			t.Errorf("%s answers %v", path, problem)
		}
	}
}
