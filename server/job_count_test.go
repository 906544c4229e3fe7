package server_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
)

const jobs = "/api/v1/jobs"

// onEveryStore runs a test with a served store of each database.
func onEveryStore(t *testing.T, test func(t *testing.T, a *guardedAPI)) {
	everystore.Run(t, func(t *testing.T, store server.Store) {
		test(t, newGuardedAPIOver(t, server.Auth{}, store))
	})
}

// viewer returns the credentials of a caller who may read everything, or everything of one
// tenant.
func (a *guardedAPI) viewer(tenant string) []string {
	a.Helper()
	return []string{"Authorization", "Bearer " + a.token(access.RoleViewer, tenant)}
}

// add stores a job.
func (a *guardedAPI) add(job fairlead.Job) *fairlead.Job {
	a.Helper()
	if err := a.client.Enqueue(a.Context(), &job); err != nil {
		a.Fatal(err)
	}
	return &job
}

// addEnded stores a job that is cancelled, and returns it as it is then.
func (a *guardedAPI) addEnded(job fairlead.Job) *fairlead.Job {
	a.Helper()
	stored := a.add(job)
	if err := a.client.Cancel(a.Context(), stored.ID, ""); err != nil {
		a.Fatal(err)
	}
	ended, err := a.client.Get(a.Context(), stored.ID)
	if err != nil {
		a.Fatal(err)
	}
	return ended
}

// counted summarizes the response of a count: the states with jobs, the total, and whether
// there may be more.
func counted(t *testing.T, answer map[string]any) string {
	t.Helper()
	var out []string
	for _, entry := range answer["states"].([]any) {
		state := entry.(map[string]any)
		if state["count"] != 0.0 {
			out = append(out, fmt.Sprint(state["count"], " ", state["state"]))
		}
	}
	out = append(out, fmt.Sprint(answer["total"], " in all"))
	if answer["more"] == true {
		out = append(out, "or more")
	}
	return strings.Join(out, ", ")
}

// wantCount expects the answer to a question.
func (a *guardedAPI) wantCount(t *testing.T, tenant, query, want string) {
	t.Helper()
	answer, _ := a.send(200, "GET", jobs+"/count?"+query, "", a.viewer(tenant)...)
	if got := counted(t, answer); got != want {
		t.Errorf("%q asked by who is bound to %q: %s, want %s", query, tenant, got, want)
	}
}

// wantListed expects the jobs of a list, which it goes through in pages of two.
func (a *guardedAPI) wantListed(t *testing.T, tenant, query string, want ...int64) {
	t.Helper()
	var got []int64
	token := ""
	for more := true; more; more = token != "" {
		answer, _ := a.send(200, "GET", jobs+"?page_size=2&"+query+"&page_token="+token, "", a.viewer(tenant)...)
		for _, job := range items(t, answer) {
			id, err := strconv.ParseInt(job["id"].(string), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, id)
		}
		token, _ = answer["next_page_token"].(string)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q asked by who is bound to %q (-want +got):\n%s", query, tenant, diff)
	}
}

func TestJobsAreCountedByState(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		a.add(fairlead.Job{Kind: "noop", Tenant: "acme"})
		a.add(fairlead.Job{Kind: "noop", Tenant: "acme", Queue: "mail"})
		a.add(fairlead.Job{Kind: "report", Tenant: "zeta", Key: "weekly"})
		a.addEnded(fairlead.Job{Kind: "report", Tenant: "zeta"})
		for query, want := range map[string]string{
			"":                                   "3 ready, 1 cancelled, 4 in all",
			"tenant=acme":                        "2 ready, 2 in all",
			"kind=report":                        "1 ready, 1 cancelled, 2 in all",
			"kind=report&state=ready":            "1 ready, 1 in all",
			"queue=mail":                         "1 ready, 1 in all",
			"key=weekly":                         "1 ready, 1 in all",
			"from=2100-01-01T00:00:00Z":          "0 in all",
			"to=2100-01-01T00:00:00Z":            "3 ready, 1 cancelled, 4 in all",
			"finished_from=2000-01-01T00:00:00Z": "1 cancelled, 1 in all",
			"finished_from=2100-01-01T00:00:00Z": "0 in all",
			"tenant=unknown":                     "0 in all",
		} {
			a.wantCount(t, "", query, want)
		}
		a.wantCount(t, "acme", "", "2 ready, 2 in all")
		a.wantCount(t, "acme", "tenant=zeta", "0 in all")
		a.wantCount(t, "zeta", "tenant=zeta&tenant=acme", "1 ready, 1 cancelled, 2 in all")
	})
}

func TestACountHasEveryStateThatWasAskedFor(t *testing.T) {
	a := newGuardedAPI(t)
	for query, want := range map[string][]string{
		"":                                       {"scheduled", "ready", "parked", "running", "waiting", "succeeded", "failed", "cancelled", "skipped"},
		"?state=failed&state=ready&state=failed": {"ready", "failed"},
	} {
		answer, _ := a.send(200, "GET", jobs+"/count"+query, "", a.viewer("acme")...)
		var got []string
		for _, entry := range answer["states"].([]any) {
			state := entry.(map[string]any)
			got = append(got, state["state"].(string))
			if state["count"] != 0.0 {
				t.Errorf("without jobs %v are counted", state)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func TestACountStopsAtItsBound(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		const all = 2500
		many := make([]*fairlead.Job, all)
		for i := range many {
			many[i] = &fairlead.Job{Kind: "noop", Tenant: "acme"}
		}
		if err := a.client.Enqueue(t.Context(), many...); err != nil {
			t.Fatal(err)
		}
		a.wantCount(t, "", "", "2500 ready, 2500 in all")
		a.wantCount(t, "acme", "at_most=1000&kind=noop", "2500 ready, 2500 in all") // which is known
		answer, _ := a.send(200, "GET", jobs+"/count?at_most=1000&to=2100-01-01T00:00:00Z", "", a.viewer("")...)
		if total := answer["total"].(float64); total < 1000 || total >= all || answer["more"] != true {
			t.Errorf("of %d jobs at most about 1000 are counted as %v", all, answer)
		}
	})
}

func TestACountRefusesBoundsThatItCannotKeep(t *testing.T) {
	a := newGuardedAPI(t)
	for _, bound := range []string{"10001", "-1"} {
		problem, _ := a.send(400, "GET", jobs+"/count?at_most="+bound, "", a.viewer("")...)
		if refusals(problem)["at_most"] == "" {
			t.Errorf("at_most=%s is refused with %v", bound, problem)
		}
	}
}

func TestJobsThatEndedLatelyAreListedAndCounted(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		a.addEnded(fairlead.Job{Kind: "noop", Tenant: "acme"})
		a.add(fairlead.Job{Kind: "noop", Tenant: "acme"})
		first := a.addEnded(fairlead.Job{Kind: "noop", Tenant: "acme"})
		second := a.addEnded(fairlead.Job{Kind: "noop", Tenant: "zeta"})
		third := a.addEnded(fairlead.Job{Kind: "noop", Tenant: "acme"})
		since := "finished_from=" + first.FinishedAt.UTC().Format("2006-01-02T15:04:05.000000Z")
		a.wantListed(t, "", since, third.ID, second.ID, first.ID)
		a.wantListed(t, "acme", since, third.ID, first.ID)
		a.wantListed(t, "", since+"&state=ready")
		a.wantCount(t, "", since, "3 cancelled, 3 in all")
		a.wantCount(t, "acme", since, "2 cancelled, 2 in all")

		operator := []string{"Authorization", "Bearer " + a.token(access.RoleOperator, "acme")}
		filter := `"filter":{"` + strings.Replace(since, "=", `":"`, 1) + `"}`
		done, _ := a.send(200, "POST", jobs+"/bulk", `{"action":"delete",`+filter+`}`, operator...)
		if done["done"] != "2" {
			t.Errorf("deleted were %v, want 2", done)
		}
		a.wantCount(t, "", "", "1 ready, 2 cancelled, 3 in all")
	})
}

func TestTheJobsOfABatchAreListedAndCounted(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		start := func(tenant string, tasks int) (id int64, made []int64) {
			changes := make([]batch.Change, tasks)
			for i := range changes {
				changes[i].Target = batch.Target{ID: fmt.Sprint(i), Type: "wall"}
			}
			started, err := a.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "paint", Tenant: tenant}, changes...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := batch.Conduct(t.Context(), a.store, started.ID); err != nil {
				t.Fatal(err)
			}
			page, err := a.batches.Jobs(t.Context(), batch.JobFilter{Batch: started.ID})
			if err != nil || len(page.IDs) != tasks {
				t.Fatalf("%d jobs were made: %v", len(page.IDs), err)
			}
			return started.ID, page.IDs
		}
		ours, made := start("acme", 5)
		a.add(fairlead.Job{Kind: "noop", Tenant: "acme"})
		theirs, _ := start("zeta", 1)
		if err := a.client.Cancel(t.Context(), made[1], ""); err != nil {
			t.Fatal(err)
		}
		query := fmt.Sprint("batch=", ours)
		a.wantListed(t, "", query, made...)
		a.wantListed(t, "acme", query, made...)
		a.wantListed(t, "", query+"&state=cancelled", made[1])
		a.wantListed(t, "", query+"&tenant=zeta")
		a.wantCount(t, "", query, "4 ready, 1 cancelled, 5 in all")
		a.wantCount(t, "acme", query+"&state=ready", "4 ready, 4 in all")
		for _, path := range []string{jobs, jobs + "/count"} {
			a.send(404, "GET", fmt.Sprint(path, "?batch=", theirs), "", a.viewer("acme")...)
			a.send(404, "GET", path+"?batch=777777", "", a.viewer("")...)
		}
	})
}

func TestTheRunsOfAScheduleAreCountedUpToABound(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		made, err := a.schedules.Put(t.Context(), schedule.Schedule{Name: "hourly", Cron: "@hourly", Job: fairlead.Job{Kind: "noop", Tenant: "acme"}})
		if err != nil {
			t.Fatal(err)
		}
		query := fmt.Sprint("schedule=", made.ID)
		a.add(fairlead.Job{Kind: "noop", Tenant: "acme"})
		a.wantCount(t, "", query, "0 in all")
		for range 3 {
			if _, err := a.schedules.Trigger(t.Context(), made.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
		a.wantCount(t, "", query, "3 ready, 3 in all")
		a.wantCount(t, "acme", query+"&at_most=2", "3 ready, 3 in all")
		a.wantCount(t, "acme", query+"&kind=report", "0 in all")
		a.send(404, "GET", jobs+"/count?"+query, "", a.viewer("zeta")...)
	})
}

func TestABatchAndAScheduleAreNotAskedForAtOnce(t *testing.T) {
	a := newGuardedAPI(t)
	for _, path := range []string{jobs, jobs + "/count"} {
		problem, _ := a.send(400, "GET", path+"?batch=1&schedule=1", "", a.viewer("")...)
		if refusals(problem)["batch"] == "" {
			t.Errorf("%s is refused with %v", path, problem)
		}
	}
}
