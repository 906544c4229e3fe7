package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

// tasked is the real program, what its tasks call, and its database.
type tasked struct {
	*testing.T
	*served
	db     string
	target *httptest.Server
	calls  chan *http.Request // with bodies that can be read
	answer chan int           // statuses, one for each call; closed: 200
}

func newTasked(t *testing.T) *tasked {
	w := &tasked{T: t, db: sqlitetest.URL(t), calls: make(chan *http.Request, 100), answer: make(chan int, 100)}
	w.target = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		w.calls <- r
		select {
		case status, open := <-w.answer:
			if open {
				out.WriteHeader(status)
			}
			_, _ = io.WriteString(out, "done")
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(w.target.Close)
	w.start()
	return w
}

func (w *tasked) start() {
	w.served = startServe(w.T, "--db", w.db, "--poll", "20ms", "--beat", "200ms", "--lease", "1m", "--drain-timeout", "100ms")
}

func (w *tasked) stop() {
	w.cancel()
	if code := <-w.exit; code != exitOK {
		w.Fatalf("exit code %d", code)
	}
}

// task makes a task that calls the target and is due next year, changed by fields.
func (w *tasked) task(fields map[string]any) (path string) {
	w.Helper()
	task := map[string]any{"name": "t", "cron_expr": "@yearly", "target_url": w.target.URL}
	maps.Copy(task, fields)
	raw, err := json.Marshal(task)
	if err != nil {
		w.Fatal(err)
	}
	return "/api/v1/tasks/" + w.send(w.T, "POST", "/api/v1/tasks", string(raw))["id"].(string)
}

// trigger makes a run and returns its path.
func (w *tasked) trigger(task string) (path string) {
	w.Helper()
	return "/api/v1/runs/" + w.send(w.T, "POST", task+"/trigger", "")["id"].(string)
}

// called waits for a call and returns its body.
func (w *tasked) called() string {
	w.Helper()
	select {
	case r := <-w.calls:
		body, _ := io.ReadAll(r.Body)
		return string(body)
	case <-time.After(patience.Limit):
		w.Fatal("the target was not called")
		return ""
	}
}

// until looks at something until it is as wanted.
func until[T any](w *tasked, look func() T, wanted func(T) bool) T {
	w.Helper()
	var last T
	for begin := time.Now(); time.Since(begin) < patience.Limit; <-time.After(20 * time.Millisecond) {
		if last = look(); wanted(last) {
			return last
		}
	}
	w.Fatalf("it is %v", last)
	return last
}

// wantRun waits until a run is in a status.
func (w *tasked) wantRun(path, status string) map[string]any {
	w.Helper()
	return until(w, func() map[string]any { return w.send(w.T, "GET", path, "") }, func(run map[string]any) bool { return run["status"] == status })
}

// story summarizes the runs of a task, oldest first.
func (w *tasked) story(task string) (told []string) {
	w.Helper()
	for _, item := range w.send(w.T, "GET", task+"/runs", "")["items"].([]any) {
		run := item.(map[string]any)
		line := fmt.Sprint(run["trigger"], " ", run["status"], " ", run["attempt"])
		if why, skipped := run["skip_reason"]; skipped {
			line += " " + why.(string)
		}
		told = append(told, line)
	}
	slices.Reverse(told)
	return told
}

// wantStory waits until the first runs of a task are told so.
func (w *tasked) wantStory(task string, want ...string) {
	w.Helper()
	until(w, func() []string { return w.story(task) }, func(told []string) bool {
		return len(told) >= len(want) && slices.Equal(told[:len(want)], want)
	})
}

func TestATaskReachesItsTargetByTheClock(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	close(w.answer)
	task := w.task(map[string]any{
		"name": "sync_stats", "description": "统计同步", "cron_expr": "* * * * * *", "exec_type": "SYNC", "http_method": "POST",
		"headers_json": `{"Content-Type":"application/json"}`, "body_template": `{"run_id":"{{run_id}}"}`, "timeout_seconds": 10,
		"max_concurrency": 1, "concurrency_policy": "QUEUE", "overlap_action": "SKIP", "failure_action": "RUN_NEW",
	})
	call := <-w.calls
	raw, _ := io.ReadAll(call.Body)
	body := string(raw)
	w.wantStory(task, "CRON SUCCESS 1")
	runs := w.send(t, "GET", task+"/runs", "")["items"].([]any)
	run := runs[len(runs)-1].(map[string]any)
	if body != fmt.Sprintf(`{"run_id":"%s"}`, run["id"]) {
		t.Errorf("the target got %s", body)
	}
	if trace := fairlead.TraceID(call.Header.Get("Traceparent")); trace == "" || run["trace_id"] != trace {
		t.Errorf("the target was told the trace %q, and the run is of %v", trace, run["trace_id"])
	}
	due, err := time.Parse(time.RFC3339Nano, run["scheduled_time"].(string))
	if err != nil || due.Nanosecond() != 0 || time.Since(due) > time.Minute {
		t.Errorf("it stands for %v (%v)", run["scheduled_time"], err)
	}
	request, response := run["request"].(map[string]any), run["response"].(map[string]any)
	if run["http_status"] != 200.0 || request["body"] != body || request["method"] != "POST" || response["body"] != "done" || run["duration_ms"] == nil || run["started_at"] == nil || run["finished_at"] == nil {
		t.Errorf("the run is %v", run)
	}
}

func TestATaskIsSkippedWhileAnEarlierRunIsActive(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	task := w.task(map[string]any{"cron_expr": "* * * * * *", "overlap_action": "SKIP"})
	w.wantStory(task, "CRON RUNNING 1", "CRON SKIPPED 1 OVERLAP_SKIP")
	close(w.answer)
	w.wantStory(task, "CRON SUCCESS 1", "CRON SKIPPED 1 OVERLAP_SKIP")
}

func TestATaskReplacesAnEarlierRun(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	task := w.task(map[string]any{"cron_expr": "* * * * * *", "overlap_action": "CANCEL_PREV", "max_concurrency": 1})
	w.wantStory(task, "CRON CANCELED 1", "CRON CANCELED 1")
	close(w.answer)
	until(w, func() []string { return w.story(task) }, func(told []string) bool { return slices.Contains(told, "CRON SUCCESS 1") })
}

func TestATaskAfterAFailureDoesAsItSays(t *testing.T) {
	tier.Long(t, "each run has to end within the second before the next")
	t.Parallel()
	for action, want := range map[string][]string{
		"RUN_NEW": {"CRON FAILED 1", "CRON SUCCESS 1", "CRON SUCCESS 1"},
		"RETRY":   {"CRON FAILED 1", "CRON SUCCESS 2", "CRON SUCCESS 1"},
		"SKIP":    {"CRON FAILED 1", "CRON SKIPPED 2 FAILURE_SKIP", "CRON SUCCESS 3"},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			w := newTasked(t)
			w.answer <- 500
			close(w.answer)
			w.wantStory(w.task(map[string]any{"cron_expr": "* * * * * *", "failure_action": action}), want...)
		})
	}
}

func TestATaskTriesAgainAsItsPolicySays(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	w.answer <- 500
	w.answer <- 503
	close(w.answer)
	task := w.task(map[string]any{"retry_policy_json": map[string]any{"max_attempts": 3, "backoff": "FIXED", "delay_seconds": 0.05}})
	run := w.wantRun(w.trigger(task), "SUCCESS")
	if run["attempt"] != 1.0 || len(w.calls) != 3 || run["http_status"] != 200.0 {
		t.Errorf("after %d calls the run is %v", len(w.calls), run)
	}
}

func TestATaskWithoutRoomIsSkippedOrRunsBeside(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string][]string{
		"SKIP":     {"MANUAL RUNNING 1", "MANUAL SKIPPED 1 CONCURRENT_SKIP"},
		"QUEUE":    {"MANUAL RUNNING 1", "MANUAL SCHEDULED 1"},
		"PARALLEL": {"MANUAL RUNNING 1", "MANUAL RUNNING 1"},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := newTasked(t)
			task := w.task(map[string]any{"max_concurrency": 1, "concurrency_policy": policy})
			w.wantRun(w.trigger(task), "RUNNING")
			w.trigger(task)
			w.wantStory(task, want...)
		})
	}
}

func TestQueuedRunsSurviveARestart(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	task := w.task(map[string]any{"max_concurrency": 1, "headers_json": `{"Content-Type":"text/plain"}`, "body_template": "{{run_id}}"})
	var runs []string
	for range 3 {
		runs = append(runs, strings.TrimPrefix(w.trigger(task), "/api/v1/runs/"))
	}
	if got := w.called(); got != runs[0] {
		t.Fatalf("%s came first of %v", got, runs)
	}
	w.stop()
	w.start()
	if got := w.story(task); len(got) != 3 || got[1] != "MANUAL SCHEDULED 1" || got[2] != got[1] {
		t.Errorf("after the restart the runs are %q", got)
	}
	close(w.answer)
	for _, run := range runs { // the first was cut off and is called again
		if got := w.called(); got != run {
			t.Errorf("the target got %s, want %s of %v", got, run, runs)
		}
		w.wantRun("/api/v1/runs/"+run, "SUCCESS")
	}
}

func TestATaskCatchesUpAsItSays(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	close(w.answer)
	hour := time.Now().Truncate(time.Hour)
	want := map[string]int{"NONE": 0, "COMPACT": 1, "FULL": 3}
	tasks := map[string]string{}
	for mode := range want {
		tasks[mode] = w.task(map[string]any{"name": mode, "cron_expr": "0 0 * * * *", "catch_up_mode": mode, "catch_up_limit": 3})
	}
	w.stop()
	w.missSince(hour.Add(-5*time.Hour), tasks)
	w.start()
	for mode, runs := range want {
		path := tasks[mode]
		task := until(w, func() map[string]any { return w.send(t, "GET", path, "") }, func(task map[string]any) bool {
			next, err := time.Parse(time.RFC3339Nano, task["next_time"].(string))
			return err == nil && next.After(hour)
		})
		caught := 0
		for _, line := range w.story(path) {
			if strings.HasPrefix(line, "CATCH_UP") {
				caught++
			}
		}
		if caught != runs {
			t.Errorf("%s: %d runs were caught up, want %d: %v", mode, caught, runs, task)
		}
	}
}

// missSince makes tasks look as if no node had acted upon them since a moment.
func (w *tasked) missSince(since time.Time, tasks map[string]string) {
	w.Helper()
	store, err := openStore(w.Context(), w.db)
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	for name := range tasks {
		s, err := schedule.NewClient(store).Get(w.Context(), name)
		if err != nil {
			w.Fatal(err)
		}
		_, err = store.Act(w.Context(), s.ID, func(schedule.Schedule, schedule.View) (schedule.Plan, error) {
			return schedule.Plan{Cursor: schedule.Cursor{Due: since, FireAt: since}}, nil
		})
		if err != nil {
			w.Fatal(err)
		}
	}
}

func TestAManualRunIsNotKeptBackByOthers(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	task := w.task(map[string]any{"overlap_action": "SKIP", "failure_action": "SKIP", "status": "DISABLED"})
	w.answer <- 500
	w.wantRun(w.trigger(task), "FAILED")
	w.wantRun(w.trigger(task), "RUNNING")
	beside := w.trigger(task)
	w.wantRun(beside, "RUNNING")
	w.send(t, "POST", beside+"/cancel", "{}")
	w.wantStory(task, "MANUAL FAILED 1", "MANUAL RUNNING 1", "MANUAL CANCELED 1")
}

func TestFailuresOfCallsAreToldApart(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	w.answer <- 418
	bad := w.wantRun(w.trigger(w.task(map[string]any{"name": "bad"})), "FAILED")
	slow := w.wantRun(w.trigger(w.task(map[string]any{"name": "slow", "timeout_seconds": 1})), "TIMEOUT")
	lost := w.wantRun(w.trigger(w.task(map[string]any{"name": "lost", "target_url": gone.URL})), "FAILED")
	for class, run := range map[string]map[string]any{"status": bad, "timeout": slow, "connect": lost} {
		if run["error_class"] != class || run["error"] == nil {
			t.Errorf("want class %s: %v", class, run)
		}
	}
	if bad["http_status"] != 418.0 || slow["http_status"] != nil {
		t.Errorf("the statuses are %v and %v", bad["http_status"], slow["http_status"])
	}
}

func TestAnAsyncRunAwaitsItsCallback(t *testing.T) {
	t.Parallel()
	w := newTasked(t)
	w.answer <- 202
	w.answer <- 202
	task := w.task(map[string]any{"exec_type": "ASYNC"})
	path := w.trigger(task)
	w.wantRun(path, "CALLBACK_PENDING")
	w.send(t, "POST", strings.Replace(path, "runs", "jobs", 1)+"/finish", `{"output":{"status":1}}`)
	if run := w.wantRun(path, "SUCCESS"); run["http_status"] != 202.0 {
		t.Errorf("the run is %v", run)
	}
	w.send(t, "PATCH", task, `{"callback_timeout_sec":1}`)
	if run := w.wantRun(w.trigger(task), "FAILED_TIMEOUT"); run["error_class"] != "timeout" {
		t.Errorf("the run is %v", run)
	}
}
