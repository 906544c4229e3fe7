package server_test

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/reserved"
	"github.com/fairlead-io/fairlead/sweep"
)

// reservedKinds are kinds that only Fairlead makes jobs of.
var reservedKinds = []string{reserved.Notice, batch.CompletedKind, sweep.GateKind, "sweep.http", "sweep.count", reserved.Bulk}

func TestNobodyMakesJobsThatSpeakInOurName(t *testing.T) {
	a := newGuardedAPI(t)
	const plan = `"name":"n","every":"1h"`
	for _, role := range []access.Role{access.RoleSubmitter, access.RoleOperator, access.RoleAdmin} {
		caller := a.as(a.token(role, ""))
		for _, kind := range reservedKinds {
			job := fmt.Sprintf(`{"kind":%q,"tenant":"acme"}`, kind)
			for path, example := range map[string]struct{ body, field string }{
				"/api/v1/jobs":        {`{"jobs":[{"kind":"noop"},` + job + `]}`, "jobs[1].kind"},
				"/api/v1/jobs/assign": {`{"tenant":"acme","start":"2030-01-01T00:00:00Z","end":"2030-01-02T00:00:00Z","jobs":[` + job + `]}`, "kind"},
				"/api/v1/schedules":   {`{` + plan + `,"job":` + job + `}`, "job.kind"},
				"/api/v1/batches":     {`{"name":"n","type":"paint","tasks":[{"target":{"id":"1","type":"wall"}}],"then":[` + fmt.Sprintf(`{"kind":%q}`, kind) + `]}`, "then[0].kind"},
			} {
				if path == "/api/v1/schedules" && role == access.RoleSubmitter {
					continue // no schedule is theirs to make
				}
				problem, _ := a.send(400, "POST", path, example.body, caller...)
				if refusals(problem)[example.field] == "" {
					t.Errorf("%s of %s by %s is refused as %v", path, kind, role, problem)
				}
				a.send(400, "POST", path, example.body, append(caller, "Idempotency-Key", "k "+kind)...)
			}
		}
		problem, _ := a.send(400, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop","tenant":"fairlead-notices","key":"failed:1:1"}]}`, caller...)
		if refusals(problem)["jobs[0].tenant"] == "" {
			t.Errorf("a job of the tenant of notices by %s is refused as %v", role, problem)
		}
	}
}

func TestAScheduleIsNotChangedIntoOneThatSpeaksInOurName(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", "/api/v1/schedules", `{"name":"n","every":"1h","job":{"kind":"noop"}}`)
	a.send(400, "POST", "/api/v1/schedules", `{"name":"m","every":"1h","enabled":false,"job":{"kind":"notice"}}`)
	a.send(400, "PUT", "/api/v1/schedules/n", `{"every":"1h","job":{"kind":"notice"}}`)
	a.send(400, "PATCH", "/api/v1/schedules/n", `{"job":{"kind":"notice"}}`)
}

func TestTasksOfABatchAreOfNoReservedKind(t *testing.T) {
	a := newGuardedAPI(t)
	caller := a.as(a.token(access.RoleSubmitter, ""))
	for _, kind := range []struct{ target, batch string }{{"batch", "completed"}, {"sweep", "gate"}, {"sweep", "start"}, {"sweep", "http"}} {
		if _, err := a.store.Join(t.Context(), fairlead.Node{Name: "all", Kinds: []string{kind.target + "." + kind.batch}}, 1e12); err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"name":"n","type":%q,"tasks":[{"target":{"id":"1","type":%q}}]}`, kind.batch, kind.target)
		problem, _ := a.send(400, "POST", "/api/v1/batches", body, caller...)
		if refusals(problem)["tasks[0].target.type"] == "" {
			t.Errorf("%v is refused as %v", kind, problem)
		}
		old := fmt.Sprintf(`{"batch_name":"n","batch_type":%q,"tasks":[{"target_id":1,"target_type":%q}]}`, kind.batch, kind.target)
		a.send(400, "POST", "/api/batch", old, caller...)
	}
}

func TestAWorkerRunsNothingThatSpeaksInOurName(t *testing.T) {
	a := newAPI(t)
	for _, kind := range []string{reserved.Notice, batch.CompletedKind, sweep.GateKind, sweep.StartKind} {
		problem, _ := a.send(400, "POST", "/api/v1/workers", fmt.Sprintf(`{"kinds":["k",%q]}`, kind))
		if refusals(problem)["kinds[1]"] == "" {
			t.Errorf("%s is refused as %v", kind, problem)
		}
	}
	w := a.join(`{"kinds":["k","sweep.http"]}`)
	a.enqueue(`{"kind":"k"}`)
	job := w.lease("")[0]
	for _, kind := range reservedKinds {
		end := fmt.Sprintf(`"settlements":[{"id":%q,"fence":%q,"outcome":"succeed","replace":{"kind":%q}}]`, job["id"], job["fence"], kind)
		if problem := w.call(400, "settle", end); refusals(problem)["settlements[0].replace.kind"] == "" {
			t.Errorf("%s is refused as %v", kind, problem)
		}
	}
	if ended := w.settle(job, `"outcome":"succeed"`); ended["result"] != "as_asked" {
		t.Errorf("it ended as %v", ended)
	}
}

// A caller that may not start a sweep must not be able to start one through a schedule for
// another sweep.
func TestASubmitterStartsNoOtherSweepThroughASchedule(t *testing.T) {
	a := newGuardedAPI(t)
	operator, submitter := a.as(a.token(access.RoleOperator, "")), a.as(a.token(access.RoleSubmitter, ""))
	a.send(200, "POST", "/api/v1/schedules", `{"name":"nightly","every":"1h","job":{"kind":"sweep.start","args":{"sweep":"one"}}}`, operator...)
	a.send(403, "POST", "/api/v1/schedules/nightly/trigger", `{"args":{"sweep":"other"}}`, submitter...)
	a.send(200, "POST", "/api/v1/schedules/nightly/trigger", `{"args":{"sweep":"other"}}`, operator...)
	a.send(200, "POST", "/api/v1/schedules/nightly/trigger", `{}`, submitter...)
}
