package external_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/sim/faulty"
	"github.com/fairlead-io/fairlead/sqlite"
)

func startable(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{StartURL: w.service.url + "/start"})
	return w
}

func externalJob() *fairlead.Job { return &fairlead.Job{Kind: external.Kind} }

func TestAJobIsSentAndWaitsForItsAnswer(t *testing.T) {
	w := startable(t)
	w.node(w.store, nil, false)
	startBy := time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC)
	job := w.enqueue(&fairlead.Job{
		Kind: external.Kind, Args: json.RawMessage(`{"order":7}`), Key: "order 7", StartBy: startBy, Timeout: 90500 * time.Millisecond, Trace: trace,
	})
	got := w.service.next()
	w.waiting(job)
	stored := w.get(job)
	id, fence := strconv.FormatInt(job.ID, 10), strconv.FormatInt(stored.Fence, 10)
	got.has(t, map[string]any{
		"id": id, "key": "order 7", "tenant": "acme", "kind": "external", "attempt": 1.0, "fence": fence,
		"start_by": "2030-01-02T03:04:05.678901Z", "timeout": "90.5s",
		"finish_url": "https://fairlead.example.org/api/v1/jobs/" + id + "/finish", "fail_url": "https://fairlead.example.org/api/v1/jobs/" + id + "/fail",
	})
	if got.path != "/start" || !strings.Contains(got.raw, `"args":{"order":7}`) {
		t.Errorf("got %s %s", got.path, got.raw)
	}
	for header, want := range map[string]string{
		"Idempotency-Key": "fairlead-" + id + "-" + fence, "Fairlead-Job": id, "Fairlead-Attempt": "1", "Fairlead-Fence": fence, "Traceparent": trace,
	} {
		if value := got.header.Get(header); value != want {
			t.Errorf("%s is %q, want %q", header, value, want)
		}
	}
	if left := stored.Deadline.Sub(stored.StartedAt); left < 80*time.Second || left > 91*time.Second {
		t.Errorf("it waits until %v after its start", left)
	}
	if err := w.client.Resolve(t.Context(), job.ID, stored.Fence, json.RawMessage(`"done"`), nil); err != nil {
		t.Fatal(err)
	}
	if done := w.ended(job); done.State != fairlead.Succeeded || string(done.Output) != `"done"` {
		t.Errorf("it ended as %s with %s", done.State, done.Output)
	}
	w.service.quiet()
}

func TestTheTenantMaySayThatItFailedForGood(t *testing.T) {
	w := startable(t)
	w.node(w.store, nil, false)
	job := w.enqueue(externalJob())
	w.service.next()
	w.waiting(job)
	if err := w.client.Resolve(t.Context(), job.ID, w.get(job).Fence, nil, fairlead.Fatal(errors.New("out of stock"))); err != nil {
		t.Fatal(err)
	}
	if done := w.ended(job); done.State != fairlead.Failed || done.Error != "out of stock" {
		t.Errorf("it ended as %s: %s", done.State, done.Error)
	}
}

func TestWithoutAnAnswerItsLastTimeoutFailsIt(t *testing.T) {
	var ahead atomic.Int64
	w := newWorld(t, sqlite.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	w.declare(fairlead.Tenant{StartURL: w.service.url + "/start"})
	w.node(w.store, nil, false)
	job := externalJob()
	job.Timeout, job.MaxAttempts = time.Hour, 1
	w.enqueue(job)
	w.service.next()
	w.waiting(job)
	ahead.Store(int64(2 * time.Hour))
	if done := w.ended(job); done.State != fairlead.Failed || done.Reason != fairlead.ReasonDeadline {
		t.Errorf("it ended as %s, reason %q", done.State, done.Reason)
	}
	w.service.quiet()
}

func TestAJobThatWaitsHoldsItsSlotOfTheCap(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{StartURL: w.service.url + "/start", MaxRunning: 1})
	w.node(w.store, handlers{"noop": func(context.Context, *fairlead.Job) error { return nil }}, false)
	first, second := w.enqueue(externalJob()), w.enqueue(externalJob())
	w.service.next().has(t, map[string]any{"id": strconv.FormatInt(first.ID, 10)})
	w.waiting(first)
	for range 3 { // the node claims, and passes over the second job
		w.ended(w.enqueue(&fairlead.Job{Kind: "noop", Tenant: "other"}))
	}
	if state := w.get(second).State; state != fairlead.Ready {
		t.Errorf("the second job is %s while the first waits", state)
	}
	w.service.quiet()
	if err := w.client.Resolve(t.Context(), first.ID, w.get(first).Fence, nil, nil); err != nil {
		t.Fatal(err)
	}
	w.service.next().has(t, map[string]any{"id": strconv.FormatInt(second.ID, 10)})
}

func TestTheAnswerToTheCallDecides(t *testing.T) {
	for status, retried := range map[int]bool{500: true, 503: true, 302: true, 408: true, 425: true, 429: true, 400: false, 404: false, 410: false} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			w := startable(t)
			w.service.answer(status)
			w.node(w.store, nil, false)
			job := externalJob()
			job.Retry = fairlead.Fixed(time.Millisecond)
			w.enqueue(job)
			first := w.service.next()
			if !retried {
				if done := w.ended(job); done.State != fairlead.Failed || done.Attempt != 1 || !strings.Contains(done.Error, fmt.Sprint(status)) {
					t.Errorf("it ended as %s in attempt %d: %s", done.State, done.Attempt, done.Error)
				}
				w.service.quiet()
				return
			}
			second := w.service.next()
			w.waiting(job)
			second.has(t, map[string]any{"attempt": 2.0})
			if a, b := first.header.Get("Idempotency-Key"), second.header.Get("Idempotency-Key"); a == b {
				t.Errorf("both runs have the key %q", a)
			}
		})
	}
}

func TestAJobThatCannotBeSentFailsForGood(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.node(w.store, nil, false)
	failsWith := func(want string) {
		t.Helper()
		if done := w.ended(w.enqueue(externalJob())); done.State != fairlead.Failed || done.Attempt != 1 || !strings.Contains(done.Error, want) {
			t.Errorf("it ended as %s in attempt %d: %s", done.State, done.Attempt, done.Error)
		}
	}
	failsWith("start_url") // the tenant is not declared
	w.declare(fairlead.Tenant{})
	failsWith("start_url")
	w.declare(fairlead.Tenant{StartURL: "http://169.254.169.254/latest/meta-data"}) // known at once
	failsWith("--allow-target")
}

func TestTheGuardLooksAtWhatANameStandsFor(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.strict = true
	w.declare(fairlead.Tenant{StartURL: strings.Replace(w.service.url, "127.0.0.1", "localhost", 1)})
	w.node(w.store, nil, false)
	if done := w.ended(w.enqueue(externalJob())); done.State != fairlead.Failed || !strings.Contains(done.Error, "--allow-target") {
		t.Errorf("it ended as %s: %s", done.State, done.Error)
	}
	w.service.quiet()
}

// The tenant answers before the node has stored that the job waits.
func TestAnAnswerMayOvertakeTheJobsMoveToWaiting(t *testing.T) {
	w := startable(t)
	store := faulty.New(w.store)
	held, release := store.Hold(faulty.Settle)
	w.node(store, nil, false)
	job := w.enqueue(externalJob())
	fence, err := strconv.ParseInt(w.service.next().body["fence"].(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	<-held
	if err := w.client.Resolve(t.Context(), job.ID, fence, json.RawMessage(`1`), nil); err != nil {
		t.Fatal(err)
	}
	if state := w.get(job).State; state != fairlead.Running {
		t.Errorf("it is %s before it was settled", state)
	}
	release()
	if done := w.ended(job); done.State != fairlead.Succeeded || string(done.Output) != "1" || done.Attempt != 1 {
		t.Errorf("it ended as %s with %s in attempt %d", done.State, done.Output, done.Attempt)
	}
}

// The node dies after the call and before it has stored that the job waits.
func TestAJobIsSentAgainIfItsNodeDies(t *testing.T) {
	w := startable(t)
	w.lease = time.Second
	dying := faulty.New(w.store)
	dying.Fail(faulty.Always, faulty.Settle)
	stopDying := w.node(dying, nil, true)
	job := w.enqueue(externalJob())
	first := w.service.next()
	dying.Fail(faulty.Always, faulty.Calls()...)
	w.node(w.store, nil, false)
	second := w.service.next()
	w.waiting(job)
	if first.body["fence"] == second.body["fence"] || first.header.Get("Idempotency-Key") == second.header.Get("Idempotency-Key") {
		t.Errorf("both runs are %v", first.body["fence"])
	}
	old, err := strconv.ParseInt(first.body["fence"].(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.client.Resolve(t.Context(), job.ID, old, nil, nil); !errors.Is(err, fairlead.ErrLeaseLost) {
		t.Errorf("an answer for the first run: %v", err)
	}
	if err := w.client.Resolve(t.Context(), job.ID, w.get(job).Fence, nil, nil); err != nil {
		t.Fatal(err)
	}
	w.ended(job)
	dying.Mend()
	stopDying()
}
