package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

// lastEntry returns the newest entry of the audit log.
func (a *guardedAPI) lastEntry() map[string]any {
	a.Helper()
	log, _ := a.send(200, "GET", "/api/v1/audit?page_size=1", "", a.as(a.token(access.RoleAdmin, ""))...)
	return items(a, log)[0]
}

// change is a request that is written down.
type change struct {
	verb, path, body string // as filled in for everyMethod
	action, subject  string
	field            string // that it changes
	before, after    any
}

func TestAnEntryShowsWhatWasThereAndWhatCameOfIt(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	a.send(200, "PUT", "/api/v1/limits/queue:mail", `{"max_running":3}`, operator...)
	for _, c := range []change{
		{"POST", "jobs/JOB/cancel", `{"reason":"enough"}`, "CancelJob", "job:", "state", "ready", "cancelled"},
		{"POST", "jobs/bulk", `{"action":"cancel","filter":{"kind":["none"]}}`, "BulkJobs", "job", "action", nil, "cancel"},
		{"PUT", "tenants/acme", `{"max_running":5}`, "UpdateTenant", "tenant:acme", "max_running", nil, 5.0},
		{"POST", "tenants/acme/pause", ``, "PauseTenant", "tenant:acme", "name", "acme", "acme"},
		{"POST", "queues/mail/pause", ``, "PauseQueue", "queue:mail", "name", nil, "mail"},
		{"POST", "kinds/mail/pause", ``, "PauseKind", "kind:mail", "name", nil, "mail"},
		{"PUT", "limits/queue:mail", `{"max_running":4}`, "SetLimit", "limit:queue:mail", "max_running", 3.0, 4.0},
		{"PATCH", "schedules/SCHEDULE", `{"description":"new"}`, "PatchSchedule", "schedule:", "description", nil, "new"},
		{"POST", "schedules/SCHEDULE/disable", `{"reason":"over"}`, "DisableSchedule", "schedule:", "enabled", true, false},
		{"PUT", "alerts/ALERT", `{"scope":"tenant:acme","url":"http://new.internal/"}`, "SetAlert", "alert:", "url", "http://svc.internal/", "http://new.internal/"},
		{"PUT", "calendars/CALENDAR", `{"description":"new"}`, "UpdateCalendar", "calendar:", "description", nil, "new"},
		{"PATCH", "tasks/TASK", `{"description":"new"}`, "PatchTask", "task:", "description", "", "new"},
		{"POST", "tasks/TASK/enable", ``, "EnableTask", "task:", "status", "DISABLED", "ENABLED"},
		{"POST", "runs/RUN/cancel", ``, "CancelTaskRun", "taskrun:", "status", "SCHEDULED", "CANCELED"},
		{"PATCH", "batches/BATCH", `{"max_running":3}`, "PatchBatch", "batch:", "max_running", nil, 3.0},
		{"PATCH", "sweeps/SWEEP", `{"rate":5}`, "PatchSweep", "sweep:", "rate", 0.0, 5.0},
		{"POST", "sweeps/SWEEP/start", ``, "StartSweep", "sweep:", "state", "created", "running"},
	} {
		path := a.fill("/api/v1/" + c.path)
		a.send(200, c.verb, path, c.body, operator...)
		entry := a.lastEntry()
		name := fmt.Sprintf("%s %s", c.verb, c.path)
		wantFields(t, entry, map[string]any{"action": c.action, "actor": "operator ", "role": "operator", "error": nil})
		if subject := entry["subject"].(string); !strings.HasPrefix(subject, c.subject) || strings.HasSuffix(subject, ":") {
			t.Errorf("%s is of %s, want %s", name, subject, c.subject)
		}
		before, _ := entry["before"].(map[string]any)
		after, _ := entry["after"].(map[string]any)
		if before[c.field] != c.before || after[c.field] != c.after {
			t.Errorf("%s changed %s from %v to %v, want %v and %v: %v", name, c.field, before[c.field], after[c.field], c.before, c.after, entry)
		}
		if tenant := entry["tenant"]; strings.Contains(c.path, "/JOB/") && tenant != "acme" || strings.HasPrefix(c.path, "queues") && tenant != nil {
			t.Errorf("%s is of the tenant %v", name, tenant)
		}
	}
}

func TestAnEntryOfWhatChangesNothingKnownHasNoBefore(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	for path, body := range map[string]string{
		"verify": `{}`, "jobs/bulk": `{"action":"run","filter":{}}`, "batches": `{"name":"b","type":"paint","tasks":[{"target":{"id":"1","type":"wall"}}]}`,
		"sweeps": `{"name":"s","kind":"count","to":9}`, "schedules": `{"name":"s","every":"1h","job":{"kind":"noop"}}`, "calendars": `{"name":"c"}`, "tenants": `{"name":"new"}`,
	} {
		a.send(200, "POST", "/api/v1/"+path, body, operator...)
		if entry := a.lastEntry(); entry["before"] != nil {
			t.Errorf("%s is written down as %v", path, entry)
		}
	}
}

// unsure is a store that loses its responses on request.
type unsure struct {
	server.Store
	lost *atomic.Bool
}

func (s unsure) PutTenant(ctx context.Context, tenant fairlead.Tenant) (fairlead.Tenant, error) {
	stored, err := s.Store.PutTenant(ctx, tenant)
	if s.lost.Load() {
		return fairlead.Tenant{}, errors.New("the connection broke")
	}
	return stored, err
}

func TestWhatMayHaveHappenedIsWrittenDownAsSuch(t *testing.T) {
	var lost atomic.Bool
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return unsure{store, &lost} })
	lost.Store(true)
	a.send(500, "PUT", "/api/v1/tenants/acme", `{"max_running":5}`, a.as(a.token(access.RoleOperator, ""))...)
	entry := a.lastEntry()
	wantFields(t, entry, map[string]any{"action": "UpdateTenant", "tenant": "acme", "error": "it is unknown whether this happened"})
	wantFields(t, entry["after"].(map[string]any), map[string]any{"name": "acme", "max_running": 5.0})
}

// What handlers are given may be anything, and secrets are not to be read later.
func TestTheAuditLogKeepsNoSecretsAndNothingLarge(t *testing.T) {
	a := newGuardedAPI(t)
	operator := a.as(a.token(access.RoleOperator, ""))
	a.send(200, "POST", schedules, `{"name":"s","every":"1h","job":{"kind":"noop","args":{"password":"hunter2"}},"alert":{"url":"http://svc.internal/","headers":{"X-Key":"hunter2"}}}`, operator...)
	entry := a.lastEntry()
	if text := jsonOf(t, entry); strings.Contains(text, "hunter2") || !strings.Contains(text, "svc.internal") {
		t.Errorf("written down is %s", text)
	}
	a.send(200, "POST", batches, `{"name":"b","type":"paint","then":[{"job":{"kind":"noop","args":"hunter2"}}],"tasks":[{"target":{"id":"1","type":"wall"},"after":"hunter2"}]}`, operator...)
	if text := jsonOf(t, a.lastEntry()); strings.Contains(text, "hunter2") || !strings.Contains(text, `"then"`) {
		t.Errorf("written down is %s", text)
	}
	var labels []string
	for i := range 64 {
		labels = append(labels, fmt.Sprintf(`"%d%s":%q`, i, strings.Repeat("x", 150), strings.Repeat("x", 250)))
	}
	a.send(200, "PUT", "/api/v1/tenants/acme", `{"labels":{`+strings.Join(labels, ",")+`}}`, operator...)
	wantFields(t, a.lastEntry(), map[string]any{"action": "UpdateTenant", "tenant": "acme", "after": nil})
}
