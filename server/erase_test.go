package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/reserved"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/server"
)

const erase = "/api/v1/erase"

// eraseWorld is a service with jobs that have ended and some that have not.
type eraseWorld struct {
	*guardedAPI
	admin []string
}

func newEraseWorld(t testing.TB) *eraseWorld {
	a := newGuardedAPI(t)
	return &eraseWorld{guardedAPI: a, admin: a.as(a.token(access.RoleAdmin, ""))}
}

// enqueue stores a job as it is.
func (w *eraseWorld) enqueue(job fairlead.Job) *fairlead.Job {
	w.Helper()
	if err := w.client.Enqueue(w.Context(), &job); err != nil {
		w.Fatal(err)
	}
	return &job
}

// failed stores a job that fails at once, with one attempt recorded.
func (w *eraseWorld) failed(job fairlead.Job) *fairlead.Job {
	w.Helper()
	stored := w.enqueue(job)
	w.settle(stored, fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no such person: ada"})
	return stored
}

// settle runs a job that is ready.
func (w *eraseWorld) settle(job *fairlead.Job, end fairlead.Settlement) {
	w.Helper()
	ctx := w.Context()
	node, err := w.store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{job.Kind}, Slots: 1}, time.Hour)
	if err != nil {
		w.Fatal(err)
	}
	claimed, err := w.store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{job.Kind}}, Max: 1})
	if err != nil || len(claimed) != 1 || claimed[0].ID != job.ID {
		w.Fatalf("claimed are %v: %v", claimed, err)
	}
	end.ID, end.Fence = claimed[0].ID, claimed[0].Fence
	if _, err := w.store.Settle(ctx, []fairlead.Settlement{end}); err != nil {
		w.Fatal(err)
	}
}

// erase sends requests until there is nothing more to do, and returns the last answer.
func (w *eraseWorld) erase(fields string) (last map[string]any, calls int) {
	w.Helper()
	for token := ""; ; calls++ {
		last, _ = w.send(200, "POST", erase, fmt.Sprintf(`{%s,"page_token":%q}`, fields, token), w.admin...)
		if token, _ = last["next_page_token"].(string); token == "" {
			return last, calls + 1
		}
	}
}

// there reports whether a job is stored.
func (w *eraseWorld) there(job *fairlead.Job) bool {
	w.Helper()
	_, err := w.client.Get(w.Context(), job.ID)
	return err == nil
}

func TestErasingATenantRemovesItsFinishedJobsAndReportsWhatIsLeft(t *testing.T) {
	w := newEraseWorld(t)
	gone := w.failed(fairlead.Job{Kind: "mail", Tenant: "acme", Args: []byte(`{"to":"ada"}`), MaxAttempts: 1})
	live := w.enqueue(fairlead.Job{Kind: "mail", Tenant: "acme", NotBefore: time.Now().Add(time.Hour)})
	other := w.failed(fairlead.Job{Kind: "mail", Tenant: "zeta", MaxAttempts: 1})
	w.fill("SCHEDULE SWEEP BATCH")

	counted, _ := w.erase(`"tenant":"acme","dry_run":true`)
	report, _ := w.erase(`"tenant":"acme"`)
	for name, answer := range map[string]map[string]any{"a dry run": counted, "the report": report} {
		wantFields(t, answer, map[string]any{"tenant": "acme", "jobs": "1", "attempts": "1"})
		if kinds := fmt.Sprint(answer["kinds"]); kinds != "[map[jobs:1 kind:mail]]" {
			t.Errorf("%s has the kinds %s", name, kinds)
		}
	}
	if w.there(gone) || !w.there(live) || !w.there(other) {
		t.Errorf("of a finished job, a live one and one of another tenant are left: %v, %v, %v", w.there(gone), w.there(live), w.there(other))
	}
	if attempts, err := w.client.Attempts(t.Context(), gone.ID); err != nil || len(attempts) > 0 {
		t.Errorf("its attempts are %v: %v", attempts, err)
	}
	if left := fmt.Sprint(report["left"]); !strings.Contains(left, fmt.Sprintf("id:%d", live.ID)) || !strings.Contains(left, "it has not ended") {
		t.Errorf("left are %s", left)
	}
	remains := fmt.Sprint(report["remains"])
	for _, want := range []string{"unfinished jobs", "open batches", "schedules", "sweeps", "tenant", "audit entries", "400 days", "idempotency keys"} {
		if !strings.Contains(remains, want) {
			t.Errorf("%q is not among what remains: %s", want, remains)
		}
	}
}

func TestErasingAKeyRemovesOnlyJobsWithIt(t *testing.T) {
	w := newEraseWorld(t)
	mine := w.failed(fairlead.Job{Kind: "mail", Tenant: "acme", Key: "ada", MaxAttempts: 1})
	zetas := w.failed(fairlead.Job{Kind: "mail", Tenant: "zeta", Key: "ada", MaxAttempts: 1})
	other := w.failed(fairlead.Job{Kind: "mail", Tenant: "acme", Key: "ada2", MaxAttempts: 1})
	w.erase(`"tenant":"acme","key":"ada"`)
	if w.there(mine) || !w.there(zetas) || !w.there(other) {
		t.Errorf("with a tenant and a key are left: %v, %v, %v", w.there(mine), w.there(zetas), w.there(other))
	}
	w.erase(`"key":"ada"`)
	if w.there(zetas) || !w.there(other) {
		t.Errorf("with a key alone are left: %v, %v", w.there(zetas), w.there(other))
	}
}

func TestErasingRemovesBulksThatHaveEnded(t *testing.T) {
	w := newEraseWorld(t)
	client := bulk.NewClient(w.store)
	start := func(filter fairlead.Filter) int64 {
		b, err := client.Start(t.Context(), bulk.Bulk{Action: bulk.Delete, Filter: filter, Cause: "no such person: ada", Reason: "ada asked for it"})
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	ended := func(filter fairlead.Filter) int64 {
		id := start(filter)
		if err := w.store.Operate(t.Context(), id, fairlead.Operation{Op: fairlead.OpCancel}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	own, live, other := ended(fairlead.Filter{Tenants: []string{"acme"}}), start(fairlead.Filter{Tenants: []string{"acme"}}), ended(fairlead.Filter{Tenants: []string{"acme", "zeta"}})
	keyed := ended(fairlead.Filter{Key: "ada"})
	left := func() (ids []int64) {
		page, err := client.List(t.Context(), bulk.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range page.Bulks {
			ids = append(ids, b.ID)
		}
		return ids
	}
	counted, _ := w.erase(`"tenant":"acme","dry_run":true`)
	if want := []int64{keyed, other, live, own}; counted["bulks"] != "1" || !slices.Equal(left(), want) {
		t.Errorf("a dry run counts %v bulks and leaves %v of %v", counted["bulks"], left(), want)
	}
	report, _ := w.erase(`"tenant":"acme"`)
	if want := []int64{keyed, other, live}; report["bulks"] != "1" || !slices.Equal(left(), want) {
		t.Errorf("%v bulks were removed and %v are left, not %v", report["bulks"], left(), want)
	}
	for _, want := range []string{"open bulks", "shared bulks"} {
		if remains := fmt.Sprint(report["remains"]); !strings.Contains(remains, want) {
			t.Errorf("%q is not among what remains: %s", want, remains)
		}
	}
	if w.erase(`"key":"ada"`); !slices.Equal(left(), []int64{other, live}) {
		t.Errorf("after the key was erased %v are left", left())
	}
}

func TestErasingIsWrittenDownWithoutTheKey(t *testing.T) {
	w := newEraseWorld(t)
	w.erase(`"tenant":"acme","key":"ada-lovelace"`)
	entry := w.lastEntry()
	wantFields(t, entry, map[string]any{"action": "Erase", "tenant": "acme", "role": "admin"})
	if strings.Contains(fmt.Sprint(entry), "lovelace") {
		t.Errorf("the entry is %v", entry)
	}
}

func TestErasingNeedsATenantOrAKey(t *testing.T) {
	w := newEraseWorld(t)
	problem, _ := w.send(400, "POST", erase, `{}`, w.admin...)
	if text := refusals(problem)["tenant"]; !strings.Contains(text, "set tenant, key or both") {
		t.Errorf("the answer is %v", problem)
	}
	for _, token := range []string{"x", "j!", "bAAAA"} {
		problem, _ = w.send(400, "POST", erase, `{"tenant":"acme","page_token":"`+token+`"}`, w.admin...)
		if refusals(problem)["page_token"] == "" {
			t.Errorf("the answer to page token %q is %v", token, problem)
		}
	}
}

func TestNoticesAboutErasedJobsAreErased(t *testing.T) {
	w := newEraseWorld(t)
	notice := func(tenant, key string) *fairlead.Job {
		return w.failed(fairlead.Job{
			Kind: reserved.Notice, Tenant: reserved.NoticeTenant, Queue: reserved.NoticeQueue, MaxAttempts: 1,
			Args: fmt.Appendf(nil, `{"tenant":%q,"key":%q,"error":"no such person"}`, tenant, key),
		})
	}
	adas, bobs, zetas := notice("acme", "ada"), notice("acme", "bob"), notice("zeta", "ada")
	alert := w.failed(fairlead.Job{
		Kind: "http", Tenant: reserved.NoticeTenant, Queue: reserved.NoticeQueue, MaxAttempts: 1,
		Args: []byte(`{"url":"http://svc.internal/","vars":{"examples":[{"tenant":"zeta"},{"tenant":"acme","key":"ada","error":"no such person"}]}}`),
	})
	other := w.failed(fairlead.Job{Kind: "http", Tenant: reserved.NoticeTenant, MaxAttempts: 1, Args: []byte(`{"vars":{"examples":[{"tenant":"zeta","key":"bob"},{"tenant":"acme"}]}}`)})
	report, _ := w.erase(`"tenant":"acme","key":"ada"`)
	wantFields(t, report, map[string]any{"notices": "2"})
	if w.there(alert) || !w.there(other) {
		t.Errorf("of alerts are left: %v, %v", w.there(alert), w.there(other))
	}
	if w.there(adas) || !w.there(bobs) || !w.there(zetas) {
		t.Errorf("after a key was erased are left: %v, %v, %v", w.there(adas), w.there(bobs), w.there(zetas))
	}
	w.admin = w.as(w.token(access.RoleAdmin, "acme"))
	w.erase(`"key":"ada"`)
	if !w.there(zetas) {
		t.Error("who is bound to a tenant has removed a notice of another's")
	}
	w.erase(`"tenant":"acme"`)
	if !w.there(other) {
		t.Error("who is bound to a tenant has removed an alert that names jobs of another's")
	}
	if w.there(bobs) || !w.there(zetas) {
		t.Errorf("after a tenant was erased are left: %v, %v", w.there(bobs), w.there(zetas))
	}
}

func TestAnErasureGoesOnWhereItsLastCallEnded(t *testing.T) {
	w := newEraseWorld(t)
	var jobs []*fairlead.Job
	for range 1100 {
		jobs = append(jobs, &fairlead.Job{Kind: "mail", Tenant: "acme"})
	}
	if err := w.client.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if err := w.client.Cancel(t.Context(), job.ID, "over"); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := w.send(200, "POST", erase, `{"tenant":"acme"}`, w.admin...)
	if first["next_page_token"] == nil || first["remains"] != nil {
		t.Fatalf("the first of several answers is %v", first)
	}
	if _, calls := w.erase(`"tenant":"acme"`); calls != 1 {
		t.Errorf("beginning anew took %d calls for the rest", calls)
	}
	tally, err := w.client.Tally(t.Context(), fairlead.Filter{Tenants: []string{"acme"}})
	if err != nil || len(tally) > 0 {
		t.Errorf("left are %v: %v", tally, err)
	}
}

func TestBatchesAreErasedWithTheirTasksOnceTheyHaveCompleted(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (server.Store, error){
		"sqlite":   func(t *testing.T) (server.Store, error) { return sqlitetest.Open(t), nil },
		"postgres": func(t *testing.T) (server.Store, error) { return postgres.Open(t.Context(), testdb.Postgres(t)) },
		"mysql":    func(t *testing.T) (server.Store, error) { return mysql.Open(t.Context(), testdb.MySQL(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			a := newGuardedAPIOver(t, server.Auth{}, store)
			w := &eraseWorld{guardedAPI: a, admin: a.as(a.token(access.RoleAdmin, ""))}
			made, err := w.batches.Start(t.Context(), batch.Batch{Name: "all red", Type: "paint", Tenant: "acme"},
				batch.Change{Target: batch.Target{ID: "1", Type: "wall"}, After: []byte(`{"owner":"ada"}`)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := batch.Conduct(t.Context(), store, made.ID); err != nil {
				t.Fatal(err)
			}
			tasks, err := w.batches.Tasks(t.Context(), batch.TaskFilter{Batch: made.ID})
			if err != nil || len(tasks) != 1 {
				t.Fatalf("its tasks are %v: %v", tasks, err)
			}
			task := &fairlead.Job{ID: tasks[0].Job, Kind: "wall.paint"}
			w.settle(task, fairlead.Settlement{Move: fairlead.Succeed})
			report, _ := w.erase(`"tenant":"acme"`)
			if !w.there(task) || !strings.Contains(fmt.Sprint(report["left"]), fmt.Sprintf("id:%d", task.ID)) {
				t.Errorf("a task that its batch has not counted is gone, or not reported: %v", report)
			}
			if _, err := batch.Conduct(t.Context(), store, made.ID); err != nil {
				t.Fatal(err)
			}
			report, _ = w.erase(`"tenant":"acme"`)
			wantFields(t, report, map[string]any{"batches": "1", "jobs": "1"})
			if w.there(task) {
				t.Error("the job of the task is left")
			}
			if _, err := w.batches.Get(t.Context(), made.ID); err == nil {
				t.Error("the batch is left")
			}
		})
	}
}
