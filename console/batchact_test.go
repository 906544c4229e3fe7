package console

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
)

// post submits a form and returns the response, which must have the status.
func (r *rig) post(status int, path string, form url.Values, cookies ...string) string {
	r.Helper()
	answer := r.ask(http.MethodPost, path, form, cookies...)
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		r.Fatalf("%s: %d, %v: %s", path, answer.StatusCode, err, body)
	}
	return string(body)
}

// batch returns the current state of a batch.
func (r *rig) batch(id int64) *batch.Batch {
	r.Helper()
	b, err := batch.NewClient(r.store).Get(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return &b
}

// slow starts a batch with one completed task. The others wait.
func (r *rig) slow(walls int) {
	r.Helper()
	b := r.paint(batch.Batch{Name: "slow", Rate: 0.0001}, walls)
	r.until("the first wall is painted", func() bool { return r.batch(b.ID).Tally.Success == 1 })
}

func TestABatchIsPausedResumedAndCancelledWithItsCounts(t *testing.T) {
	r := newPainters(t, false)
	r.slow(10)
	r.shows(r.page(200, "/batches/1"), `href="/batches/1/pause?next=`, `href="/batches/1/cancel?next=`, `href="/batches/1/rollback?next=`, `href="/batches/1/pace?next=`)
	r.shows(r.page(200, "/batches"), `href="/batches/1/pause?next=`, `href="/new/batch?next=`)
	r.shows(r.page(200, "/batches/1/pause"), "9 tasks will not start until the batch is resumed.", "None are running.", `name="was.done" value="1"`, `name="was.not_started" value="9"`)
	r.post(303, "/batches/1/pause", url.Values{"reason": {"paint is out"}})
	if b := r.batch(1); !b.Paused || b.Reason != "paint is out" {
		t.Errorf("it is paused: %v, %s", b.Paused, b.Reason)
	}
	r.shows(r.page(200, "/batches/1"), `href="/batches/1/resume?next=`)
	r.shows(r.page(200, "/batches/1/resume"), "Reason for the pause:", "paint is out", "9 tasks can start again.")
	r.post(303, "/batches/1/resume", url.Values{})
	if r.batch(1).Paused {
		t.Error("it is still paused")
	}
	r.shows(r.page(200, "/batches/1/cancel"), "9 tasks that have not started will be cancelled. This cannot be undone.", "1 finished task will stay unchanged.", `class="grave"`)
	r.post(303, "/batches/1/cancel", url.Values{"reason": {"another colour"}})
	if b := r.batch(1); b.State() != batch.Cancel || b.Reason != "another colour" {
		t.Errorf("it is %s, %s", b.State(), b.Reason)
	}
}

func TestTheSecondOfTwoWhoChangeThePaceIsShownWhatTheFirstDid(t *testing.T) {
	r := newPainters(t, false)
	r.slow(10)
	r.shows(r.page(200, "/batches/1/pace"), `name="max_running" value="0"`, `name="rate" value="0.0001"`)
	opened := func(most, rate string) url.Values {
		return url.Values{"max_running": {most}, "was.max_running": {"0"}, "rate": {rate}, "was.rate": {"0.0001"}}
	}
	r.post(303, "/batches/1/pace", opened("3", "0.0001"))
	refused := r.post(409, "/batches/1/pace", opened("0", "0.0002"))
	r.shows(refused, "This was changed after you opened the form.", "Changed by someone else. The current value is 3.", `name="rate" value="0.0002"`, `name="max_running" value="3"`, `name="was.max_running" value="3"`)
	if b := r.batch(1); b.MaxRunning != 3 || b.Rate != 0.0001 {
		t.Errorf("the pace is %d, %v", b.MaxRunning, b.Rate)
	}
	r.post(303, "/batches/1/pace", url.Values{"max_running": {"3"}, "was.max_running": {"3"}, "rate": {"0.0002"}, "was.rate": {"0.0001"}})
	if b := r.batch(1); b.MaxRunning != 3 || b.Rate != 0.0002 {
		t.Errorf("the pace is %d, %v", b.MaxRunning, b.Rate)
	}
	r.shows(r.post(400, "/batches/1/pace", url.Values{"rate": {"fast"}}), "rate: must be a number", `value="fast"`)
}

func TestFailedTasksOfABatchAreRetriedAllOrSome(t *testing.T) {
	r := newPainters(t, false)
	b := r.painted(batch.Batch{Name: "all red"}, 9)
	r.shows(r.page(200, "/batches/1/retry"), "3 failed tasks will be retried.")
	r.shows(r.post(400, "/batches/1/retry", url.Values{"tasks": {"one"}}), "tasks: must be comma-separated whole numbers", `value="one"`)
	failed, err := batch.NewClient(r.store).Tasks(t.Context(), batch.TaskFilter{Batch: b.ID, States: []batch.TaskState{batch.TaskFail}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	r.post(303, "/batches/1/retry", url.Values{"tasks": {fmt.Sprintf("%d, %d", failed[0].ID, failed[1].ID)}})
	r.until("it has completed again", func() bool { return r.batch(b.ID).Completions == 2 })
	list := r.page(200, "/batches/1/tasks?state=fail&like=wall+N+is+wet&at_most=500")
	r.shows(list, `id="tasks-actions"`, fmt.Sprintf(`/batches/1/retry?tasks=%d%%2C%d%%2C%d&amp;next=`, failed[0].ID, failed[1].ID, failed[2].ID))
	r.shows(r.page(200, fmt.Sprintf("/batches/1/retry?tasks=%d,%d", failed[0].ID, failed[1].ID)), "2 selected tasks will be retried.", fmt.Sprintf(`name="tasks" value="%d,%d"`, failed[0].ID, failed[1].ID))
	r.hides(r.page(200, "/batches/1/tasks?state=fail"), `id="tasks-actions"`)
	r.post(303, "/batches/1/retry", url.Values{})
	r.until("it has completed a third time", func() bool { return r.batch(b.ID).Completions == 3 })
}

func TestARollbackShowsWhatItDoesAndThenWhatItHasDone(t *testing.T) {
	r := newPainters(t, false)
	b := r.painted(batch.Batch{Name: "all red"}, 9)
	form := r.page(200, "/batches/1/rollback")
	r.shows(form, "6 tasks will be rolled back to their previous state, most recent first.", "<strong>3</strong> failed: rolled back only if you select the option below",
		"Also roll back 3 failed tasks", "wall-8", "9007199254740993", "Showing the first 5.", `class="grave"`)
	r.post(303, "/batches/1/rollback", url.Values{"serial": {"true"}})
	r.until("it is rolled back", func() bool { return r.batch(b.ID).State() == batch.RollbackSuccess })
	r.shows(r.page(200, "/batches/1"), "The batch was rolled back.", "6 tasks were rolled back · 3 had failed and were left unchanged")
	r.shows(r.page(200, "/batches/1/rollback"), "<strong>6</strong> already rolled back")
}

func TestACanaryIsApproved(t *testing.T) {
	r := newPainters(t, false)
	b := r.paint(batch.Batch{Name: "canary", Canary: batch.Canary{Tasks: 2}}, 5)
	r.until("the canary ends", func() bool { return r.batch(b.ID).Awaiting })
	r.shows(r.page(200, "/batches/1"), `href="/batches/1/approve?next=`)
	r.shows(r.page(200, "/batches/1/approve"), "3 remaining tasks will start.", ">awaiting<")
	r.post(303, "/batches/1/approve", url.Values{})
	r.until("it has completed", func() bool { return r.batch(b.ID).Tally.Open() == 0 })
}

func TestAConflictOfABatchSaysWhatChangedMeanwhile(t *testing.T) {
	r := newPainters(t, false)
	r.painted(batch.Batch{Name: "all red"}, 2)
	refused := r.post(409, "/batches/1/cancel", url.Values{"was.state": {"running"}, "was.done": {"1"}, "was.not_started": {"1"}})
	r.shows(refused, "cannot cancel batch 1: it is success", "The state was running when you opened this form.", "was 1")
}

func TestAViewerCannotActOnBatchesAndSweeps(t *testing.T) {
	r := newPainters(t, true)
	r.paint(batch.Batch{Name: "slow", Rate: 0.0001}, 3)
	viewer := r.token("reader", access.RoleViewer)
	for _, path := range []string{"/batches", "/batches/1", "/sweeps"} {
		r.hides(r.page(200, path, sessionCookie, viewer), "data-dialog")
	}
	for _, a := range append(batchActions, sweepActions...) {
		path := strings.ReplaceAll(a.path, "{id}", "1")
		r.shows(r.page(403, path, sessionCookie, viewer), "Your role (viewer)")
		r.post(403, path, url.Values{}, sessionCookie, viewer)
	}
	submitter := r.token("submitter", access.RoleSubmitter, "other")
	r.page(404, "/batches/1/cancel", sessionCookie, submitter)
	r.post(404, "/batches/1/cancel", url.Values{}, sessionCookie, submitter)
	if state := r.batch(1).State(); state == batch.Cancel {
		t.Error("it was cancelled")
	}
}
