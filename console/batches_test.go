package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// newPainters returns a rig whose node, once it runs, paints walls. Every third wall is
// wet.
func newPainters(t *testing.T, auth bool) *rig {
	mux := fairlead.NewMux()
	batch.Handle(mux, batch.Operation{TargetType: "wall", BatchType: "paint", Process: func(_ context.Context, task batch.TaskArgs) error {
		if n, _ := strconv.Atoi(task.Target.ID); n%3 == 0 {
			return fmt.Errorf("wall %d is wet", n)
		}
		return nil
	}})
	r := newRig(t, auth, mux)
	r.run()
	r.until("the node joins", r.node.Ready)
	return r
}

// until waits until something holds.
func (r *rig) until(what string, holds func() bool) {
	r.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for limit := time.After(patience.Limit); !holds(); {
		select {
		case <-ticks.C:
		case <-limit:
			r.Fatal("this never came: " + what)
		}
	}
}

// paint starts a batch of so many walls, from 1 on.
func (r *rig) paint(b batch.Batch, walls int) batch.Batch {
	r.Helper()
	b.Type = "paint"
	var changes []batch.Change
	for i := range walls {
		changes = append(changes, batch.Change{
			Target: batch.Target{ID: strconv.Itoa(i + 1), Name: fmt.Sprintf("wall-%d", i+1), Type: "wall"},
			Before: json.RawMessage(`{"colour":"white","n":9007199254740993}`), After: json.RawMessage(`{"colour":"red"}`),
		})
	}
	b, err := batch.NewClient(r.store).Start(r.Context(), b, changes...)
	if err != nil {
		r.Fatal(err)
	}
	return b
}

// painted calls paint and waits until the batch has completed.
func (r *rig) painted(b batch.Batch, walls int) batch.Batch {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience.Limit)
	defer cancel()
	b, err := batch.NewClient(r.store).Wait(ctx, r.paint(b, walls).ID)
	if err != nil {
		r.Fatal(err)
	}
	return b
}

func TestWithoutBatchesThePageTellsHowToMakeOne(t *testing.T) {
	r := newRig(t, false, nil)
	r.shows(r.page(200, "/batches"), "No batches yet", `href="/new/batch?next=`)
	r.shows(r.page(200, "/batches?name=x"), "No matching batches")
}

func TestCountsOfABatchLeadToExactlyThoseTasks(t *testing.T) {
	r := newPainters(t, false)
	r.painted(batch.Batch{Name: "all red", Creator: "ada"}, 140)
	list := r.page(200, "/batches?open=&name=all+red")
	r.shows(list, ">all red<", "partial fail", "ada", "140 of 140 tasks done")
	page := r.page(200, "/batches/1")
	r.shows(page, "fairlead batch retry 1", "Each square is a task", `title="wall-3: fail"`, `title="wall-4: success"`, "wall N is wet")
	for _, from := range []string{list, page} {
		for href, n := range r.countLinks(from) {
			if rows := r.rowsOf(href); rows != n {
				t.Errorf("%s is said to have %d rows, and has %d", href, n, rows)
			}
		}
	}
	if n := r.countLinks(page)["/batches/1/tasks?at_most=500&like=wall+N+is+wet&state=fail&state=rollback_fail"]; n != 46 {
		t.Errorf("the group of wet walls has %d tasks, of %v", n, r.countLinks(page))
	}
}

func TestTasksShowTheirDocumentsAsTheyAre(t *testing.T) {
	r := newPainters(t, false)
	r.painted(batch.Batch{Name: "all red"}, 3)
	page := r.page(200, "/batches/1/tasks?state=fail")
	r.shows(page, "wall-3", "wall 3 is wet", "9007199254740993", `<details id="documents-`, `href="/jobs/`)
	r.hides(page, "wall-1<", "wall-2<")
	r.shows(r.page(200, "/batches/1/tasks?state=cancel"), "No matching tasks")
	r.shows(r.page(200, "/batches/1/tasks?at_most=2"), "Only the first 2 rows were searched")
}

func TestAPausedBatchSaysWhyAndWhatToDo(t *testing.T) {
	r := newPainters(t, false)
	b := r.paint(batch.Batch{Name: "careful", StopAfter: batch.Threshold{Failures: 1}, MaxRunning: 1}, 50)
	r.until("the batch pauses", func() bool {
		now, err := batch.NewClient(r.store).Get(r.Context(), b.ID)
		return err == nil && now.Paused
	})
	r.shows(r.page(200, "/batches/1"), "The batch is paused. No tasks will start until it is resumed.", "tasks have failed", "fairlead batch resume 1", "after 1 failure")
}

func TestABatchAwaitingApprovalSaysSo(t *testing.T) {
	r := newPainters(t, false)
	b := r.paint(batch.Batch{Name: "canary", Canary: batch.Canary{Tasks: 2}}, 4)
	r.until("the canary ends", func() bool {
		now, err := batch.NewClient(r.store).Get(r.Context(), b.ID)
		return err == nil && now.Awaiting
	})
	r.shows(r.page(200, "/batches/1"), "The canary has finished", "fairlead batch approve 1", "first 2 tasks; the rest start after approval")
	r.shows(r.page(200, "/batches"), "awaiting")
}

func TestALargeBatchIsDrawnByItsTally(t *testing.T) {
	r := newPainters(t, false)
	r.paint(batch.Batch{Name: "many", Rate: 0.001}, 1200)
	page := r.page(200, "/batches/1")
	r.shows(page, "Each square represents about 3 tasks")
	if n := strings.Count(page, `class="cell `); n != gridCells {
		t.Errorf("there are %d squares", n)
	}
}

func TestABatchOfAnotherTenantDoesNotExist(t *testing.T) {
	r := newPainters(t, true)
	r.paint(batch.Batch{Name: "theirs", Tenant: "theirs"}, 1)
	r.paint(batch.Batch{Name: "mine", Tenant: "mine"}, 1)
	token := r.token("bound", access.RoleViewer, "mine")
	page := r.page(200, "/batches", sessionCookie, token)
	r.shows(page, ">mine<")
	r.hides(page, "theirs")
	r.page(404, "/batches/1", sessionCookie, token)
	r.page(404, "/batches/1/tasks", sessionCookie, token)
	r.page(200, "/batches/2", sessionCookie, token)
	r.page(404, "/find?q=theirs", sessionCookie, token)
}

func TestParametersOfBatchesThatCannotBeUsedAreNamed(t *testing.T) {
	r := newPainters(t, false)
	r.painted(batch.Batch{Name: "one"}, 1)
	for path, says := range map[string]string{
		"/batches?opne=true":              "opne: is not a parameter of this page",
		"/batches?open=yes":               "open: must be true",
		"/batches?page=x":                 "page: is not a valid page token",
		"/batches/1/tasks?state=odd":      "state",
		"/batches/1/tasks?at_most=501":    "at_most: must be a number between 1 and 500",
		"/batches/1/tasks?like=x&page=AA": "page: cannot be combined with like",
		"/batches/1?x=1":                  "x: is not a parameter of this page",
	} {
		r.shows(r.page(400, path), says)
	}
	r.shows(r.page(404, "/batches/one"), "A batch ID must be a number")
}

func TestABatchIsFoundByItsIdAndItsName(t *testing.T) {
	r := newPainters(t, false)
	r.painted(batch.Batch{Name: "all red"}, 1)
	request := httptest.NewRequestWithContext(t.Context(), "GET", "/find", nil)
	request.Host = "localhost"
	who, err := r.console.identify(request)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"1", "all red"} { // 1 is also a job
		found := &finding{query: query}
		if err := findBatches(r.console.visit(request, who), found); err != nil || len(found.hits) == 0 || found.hits[0].Href != "/batches/1" || found.hits[0].Title != "all red" {
			t.Errorf("%s finds %v, %v", query, found.hits, err)
		}
	}
}

func TestHostileTextOfABatchIsEscaped(t *testing.T) {
	r := newPainters(t, false)
	const hostile = `"><script>alert(1)</script>`
	r.paint(batch.Batch{Name: hostile, Creator: hostile, Description: hostile, Notify: "https://example.org/" + hostile}, 1)
	for _, path := range []string{"/batches", "/batches/1", "/batches/1/tasks"} {
		r.hides(r.page(200, path), "<script>alert")
	}
}
