package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// Source 004, domain model: a worker, our tenant, has the jobs that it is to run.
func TestATenantWithUnfinishedJobsIsDeletedByForceAlone(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", "/api/v1/tenants", `{"name":"acme"}`)
	a.send(200, "POST", "/api/v1/tenants", `{"name":"child","parent":"acme"}`)
	ready := a.enqueue(`{"kind":"noop","tenant":"acme"}`)
	later := a.enqueue(`{"kind":"noop","tenant":"acme","not_before":"2100-01-01T00:00:00Z"}`)
	other := a.enqueue(`{"kind":"noop","tenant":"child"}`)
	problem, _ := a.send(409, "DELETE", "/api/v1/tenants/acme", "")
	if detail := fmt.Sprint(problem["detail"]); !strings.Contains(detail, "2 unfinished jobs") || !strings.Contains(detail, "force") {
		t.Errorf("it is refused as %s", detail)
	}
	problem, _ = a.send(409, "DELETE", "/api/v1/tenants/acme?force=true", "")
	if detail := fmt.Sprint(problem["detail"]); !strings.Contains(detail, `parent of "child"`) {
		t.Errorf("a parent is refused as %s", detail)
	}
	a.wantState(ready, "ready")
	a.send(404, "DELETE", "/api/v1/tenants/nobody?force=true", "")

	a.send(200, "POST", other+"/cancel", "")
	a.send(200, "DELETE", "/api/v1/tenants/child", "") // its finished jobs do not matter
	deleted, _ := a.send(200, "DELETE", "/api/v1/tenants/acme?force=true", "")
	if deleted["cancelled_jobs"] != 2.0 {
		t.Errorf("it is deleted as %v", deleted)
	}
	a.send(404, "GET", "/api/v1/tenants/acme", "")
	for _, path := range []string{ready, later} {
		job, _ := a.send(200, "GET", path, "")
		wantFields(t, job, map[string]any{"state": "cancelled", "error": "its tenant was deleted"})
	}
}

func TestAPatchOfATenantChangesOnlyWhatItNames(t *testing.T) {
	a := newAPI(t)
	created, header := a.send(200, "POST", "/api/v1/tenants", `{"name":"acme","max_running":5,"rate":2,"start_url":"https://a.example/start","labels":{"plan":"gold","owner":"ann"}}`)
	tag := header.Get("ETag")
	changed, header := a.send(200, "PATCH", "/api/v1/tenants/acme", `{"max_running":7,"labels":{"plan":"","tier":"1"}}`, "If-Match", tag)
	wantFields(t, changed, map[string]any{"name": "acme", "max_running": 7.0, "rate": 2.0, "start_url": "https://a.example/start", "created_at": created["created_at"]})
	if labels := jsonOf(t, changed["labels"]); labels != `{"owner":"ann","tier":"1"}` {
		t.Errorf("its labels are %s", labels)
	}
	if header.Get("ETag") == tag {
		t.Error("its version is as it was")
	}
	a.send(412, "PATCH", "/api/v1/tenants/acme", `{"max_running":8}`, "If-Match", tag)
	none, _ := a.send(200, "PATCH", "/api/v1/tenants/acme", `{"max_running":0,"start_url":"","paused":true}`)
	if none["max_running"] != nil || none["start_url"] != nil || none["paused"] != true || none["rate"] != 2.0 {
		t.Errorf("it is %v", none)
	}
	problem, _ := a.send(400, "PATCH", "/api/v1/tenants/acme", `{"min_running":-1}`)
	if refusals(problem)["min_running"] == "" {
		t.Errorf("it is refused as %v", problem)
	}
	a.send(404, "PATCH", "/api/v1/tenants/nobody", `{"max_running":1}`)
}

// Source 004, domain model: a tenant may have several workers; ours are tenants with a
// common parent, whose cap holds for all.
func TestTheStatsOfAParentCountItsChildren(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", "/api/v1/tenants", `{"name":"acme","max_running":5}`)
	for _, child := range []string{"east", "west"} {
		a.send(200, "POST", "/api/v1/tenants", `{"name":"`+child+`","parent":"acme"}`)
		a.enqueue(`{"kind":"noop","tenant":"` + child + `"}`)
	}
	a.enqueue(`{"kind":"noop","tenant":"acme"}`)
	stats, _ := a.send(200, "GET", "/api/v1/tenants/acme/stats", "")
	wantFields(t, stats, map[string]any{"ready": 1.0, "max_running": 5.0})
	family, _ := stats["family"].(map[string]any)
	wantFields(t, family, map[string]any{"ready": 3.0})
	if children := jsonOf(t, family["children"]); children != `["east","west"]` {
		t.Errorf("its children are %s", children)
	}
	if stats, _ := a.send(200, "GET", "/api/v1/tenants/east/stats", ""); stats["family"] != nil {
		t.Errorf("a child has %v", stats)
	}
}
