package server_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/httpcall"
)

func TestProgressShowsInTheJob(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJob()
	viewer := []string{"Authorization", "Bearer " + a.token(access.RoleViewer, "")}
	answer, _ := a.send(200, "POST", path, `{"status":"progress","output":{"done":3,"total":9}}`, token(run)...)
	job, _ := a.send(200, "GET", "/api/v1/jobs/"+strconv.FormatInt(run.Job, 10), "", viewer...)
	if jsonOf(t, job["progress"]) != `{"done":3,"total":9}` || job["state"] != "waiting" {
		t.Errorf("the job is %v", job)
	}
	if answer["status"] != "progress" || answer["deadline"] != job["deadline"] {
		t.Errorf("answered %v, the job is %v", answer, job)
	}
	again, _ := a.send(200, "POST", path, `{"status":"progress","output":{"done":3,"total":9}}`, token(run)...)
	if jsonOf(t, again) != jsonOf(t, answer) {
		t.Errorf("answered %v, then %v", answer, again)
	}
	a.send(200, "POST", path, `{"status":"success"}`, token(run)...)
	a.send(409, "POST", path, `{"status":"progress","output":{"done":4}}`, token(run)...)
	a.send(409, "POST", path, `{"status":"extend","extend_seconds":60}`, token(run)...)
}

func TestATargetCanAskForMoreTime(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJob()
	run.Expires = run.Expires.Add(24 * time.Hour)
	deadline := func() time.Time {
		job, err := a.client.Get(t.Context(), run.Job)
		if err != nil {
			t.Fatal(err)
		}
		return job.Deadline
	}
	was := deadline()
	a.send(200, "POST", path, `{"status":"extend","extend_seconds":60}`, token(run)...)
	if !deadline().Equal(was) {
		t.Errorf("the deadline moved back from %v to %v", was, deadline())
	}
	answer, _ := a.send(200, "POST", path, `{"status":"progress","output":1,"extend_seconds":3600}`, token(run)...)
	if !deadline().After(was) || answer["deadline"] != deadline().UTC().Format("2006-01-02T15:04:05.000000Z") {
		t.Errorf("the deadline was %v and is %v; answered %v", was, deadline(), answer)
	}

	t.Run("but not beyond its token", func(t *testing.T) {
		short := run
		short.Expires = time.Now().Add(time.Minute).Truncate(time.Second)
		before := deadline()
		a.send(200, "POST", path, `{"status":"extend","extend_seconds":3600}`, token(short)...)
		if !deadline().Equal(before) {
			t.Errorf("the deadline moved to %v", deadline())
		}
	})
}

func TestWhatATargetSaysMustMakeSense(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJob()
	for body, field := range map[string]string{
		`{"status":"extend"}`:                                        "extend_seconds",
		`{"status":"extend","extend_seconds":0}`:                     "extend_seconds",
		`{"status":"extend","extend_seconds":-1}`:                    "extend_seconds",
		`{"status":"extend","extend_seconds":3601}`:                  "extend_seconds",
		`{"status":"extend","extend_seconds":1e300}`:                 "extend_seconds",
		`{"status":"extend","extend_seconds":"60"}`:                  "body",
		`{"status":"progress"}`:                                      "output",
		`{"status":"progress","output":1,"error":"no"}`:              "error",
		`{"status":"success","error":"no"}`:                          "error",
		`{"status":"success","extend_seconds":5}`:                    "extend_seconds",
		`{"status":"progress","output":1,"extend_seconds":99999999}`: "extend_seconds",
		`{"status":"later"}`:                                         "status",
	} {
		answer, _ := a.send(400, "POST", path, body, token(run)...)
		if got := jsonOf(t, answer["errors"]); !containsField(answer, field) {
			t.Errorf("%s is refused for %s, want %s", body, got, field)
		}
	}
	a.wantJob(run.Job, fairlead.Waiting)
	if job, err := a.client.Get(t.Context(), run.Job); err != nil || job.Told != nil {
		t.Errorf("%s was kept: %v", job.Told, err)
	}
}

func containsField(answer map[string]any, field string) bool {
	list, _ := answer["errors"].([]any)
	for _, one := range list {
		if entry, _ := one.(map[string]any); entry["field"] == field {
			return true
		}
	}
	return false
}

func TestProgressMayOvertakeTheWait(t *testing.T) {
	a := newGuardedAPI(t)
	ctx := t.Context()
	node, err := a.store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"asks"}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.client.Enqueue(ctx, &fairlead.Job{Kind: "asks", Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	jobs, err := a.store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"asks"}}, Max: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d are claimed: %v", len(jobs), err)
	}
	key, err := httpcall.CallbackKey(ctx, a.store)
	if err != nil {
		t.Fatal(err)
	}
	token := httpcall.MakeToken(key, httpcall.Callback{Tenant: "acme", Job: jobs[0].ID, Fence: jobs[0].Fence, Expires: time.Now().Add(time.Hour)})
	path := "/api/v1/callbacks/" + strconv.FormatInt(jobs[0].ID, 10)
	answer, _ := a.send(200, "POST", path, `{"status":"progress","output":"early","extend_seconds":5}`, "Authorization", "Bearer "+token)
	if _, told := answer["deadline"]; told {
		t.Errorf("it has a deadline before it waits: %v", answer)
	}
	wait := fairlead.Settlement{ID: jobs[0].ID, Fence: jobs[0].Fence, Move: fairlead.MoveAwait, After: time.Hour, Progress: []byte(`{"status":202}`)}
	if _, err := a.store.Settle(ctx, []fairlead.Settlement{wait}); err != nil {
		t.Fatal(err)
	}
	shown, _ := a.send(200, "GET", "/api/v1/jobs/"+strconv.FormatInt(jobs[0].ID, 10), "", "Authorization", "Bearer "+a.token(access.RoleViewer, ""))
	if shown["progress"] != "early" || jsonOf(t, shown["reported"]) != `{"status":202}` {
		t.Errorf("the job is %v", shown)
	}
}

func TestNobodyExtendsAfterTheDeadline(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJobFor(time.Microsecond)
	a.send(410, "POST", path, `{"status":"extend","extend_seconds":60}`, token(run)...)
	a.send(410, "POST", path, `{"status":"progress","output":1}`, token(run)...)
	if n, err := a.store.Expire(t.Context(), []driver.Held{{ID: run.Job, Fence: run.Fence}}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	a.send(410, "POST", path, `{"status":"extend","extend_seconds":60}`, token(run)...)
	a.wantJob(run.Job, fairlead.Failed)
}
