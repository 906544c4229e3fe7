package external_test

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/sqlite"
)

// threeTimes returns a job that is sent at most three times.
func threeTimes() *fairlead.Job {
	return &fairlead.Job{Kind: external.Kind, MaxAttempts: 3, Retry: fairlead.Fixed(time.Millisecond), Timeout: time.Hour}
}

// sent waits for the next order of a job, and until it waits for its answer.
func (w *world) sent(job *fairlead.Job, attempt int) *fairlead.Job {
	w.Helper()
	got := w.service.next()
	if got.path != "/start" {
		w.Fatalf("got %s %s", got.path, got.raw)
	}
	got.has(w.T, map[string]any{"id": strconv.FormatInt(job.ID, 10), "attempt": float64(attempt)})
	w.waiting(job)
	stored := w.get(job)
	got.has(w.T, map[string]any{"fence": strconv.FormatInt(stored.Fence, 10)})
	return stored
}

// Source 004, API: onJobFail is called when a job has failed completely, its retries too.
func TestAFailureToldByTheTenantIsTriedAgainUntilTheAttemptsAreUsedUp(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store driver.Store) {
		t.Parallel()
		w := newWorldOn(t, store)
		w.declareListening(fairlead.Tenant{})
		w.node(w.store, nil, false)
		job := w.enqueue(threeTimes())
		fence := int64(0)
		for attempt := 1; attempt <= 3; attempt++ {
			run := w.sent(job, attempt)
			if run.Fence <= fence {
				t.Errorf("attempt %d has the fence %d after %d", attempt, run.Fence, fence)
			}
			if fence != 0 {
				if err := w.client.Resolve(t.Context(), job.ID, fence, nil, nil); !errors.Is(err, fairlead.ErrLeaseLost) {
					t.Errorf("an answer for the attempt before: %v", err)
				}
			}
			fence = run.Fence
			if err := w.client.Resolve(t.Context(), job.ID, fence, nil, errors.New("out of stock")); err != nil {
				t.Fatal(err)
			}
		}
		if done := w.ended(job); done.State != fairlead.Failed || done.Attempt != 3 || done.Failures != 3 || done.Error != "out of stock" {
			t.Errorf("it ended as %s in attempt %d after %d failures: %s", done.State, done.Attempt, done.Failures, done.Error)
		}
		w.service.next().has(t, map[string]any{"event": "failed", "attempt": 3.0, "reason": "error", "error": "out of stock"})
		w.service.quiet()
	})
}

// Source 004, briefing: the tenant is notified of a timeout, and jobs have a retry policy.
func TestEachMissedDeadlineIsToldAndTheLastOneFailsTheJob(t *testing.T) {
	var ahead atomic.Int64
	w := newWorld(t, sqlite.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	w.lease = 1000 * time.Hour // the clock is moved
	w.declareListening(fairlead.Tenant{})
	w.node(w.store, nil, false)
	job := w.enqueue(threeTimes())
	orders, timeouts, failures := 0, map[any]bool{}, 0
	for range 3 + 3 + 1 {
		got := w.service.next()
		switch got.path {
		case "/start":
			orders++
			got.has(t, map[string]any{"attempt": float64(orders)})
			w.waiting(job)
			ahead.Add(int64(2 * time.Hour))
		case "/timeout":
			got.has(t, map[string]any{"id": strconv.FormatInt(job.ID, 10), "reason": "deadline"})
			timeouts[got.body["attempt"]] = true
		case "/failed":
			got.has(t, map[string]any{"attempt": 3.0, "reason": "deadline"})
			failures++
		}
	}
	if orders != 3 || len(timeouts) != 3 || failures != 1 {
		t.Errorf("there were %d orders, timeouts of the attempts %v and %d failures", orders, timeouts, failures)
	}
	if done := w.ended(job); done.State != fairlead.Failed || done.Reason != fairlead.ReasonDeadline || done.Failures != 3 {
		t.Errorf("it ended as %s, reason %q, after %d failures", done.State, done.Reason, done.Failures)
	}
	w.service.quiet()
	if n := w.notices(); n != 4 {
		t.Errorf("%d notices were stored", n)
	}
}
