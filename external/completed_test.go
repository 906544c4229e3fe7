package external_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/sqlite"
)

// untilState waits for a batch to complete in a state.
func (w *world) untilState(id int64, want batch.State) {
	w.Helper()
	w.eventually("the batch is "+string(want), func() bool {
		batch, err := w.batches.Get(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		return batch.State() == want && !batch.EndedAt.IsZero()
	})
}

// newBatch creates a batch of one task that notifies the service.
func (w *world) newBatch(url string) batch.Batch {
	w.Helper()
	b := batch.Batch{Name: "all red", Type: "paint", Tenant: "acme", Notify: url}
	var err error
	w.eventually("a node is there", func() bool {
		made, failure := w.batches.Start(w.Context(), b, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}})
		if err = failure; err == nil {
			b = made
		}
		return err == nil || !errors.Is(err, fairlead.ErrInvalid)
	})
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func TestEachCompletionOfABatchIsToldAtLeastOnce(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	var wet atomic.Bool
	wet.Store(true)
	w.node(w.store, handlers{"wall.paint": func(context.Context, *fairlead.Job) error {
		if wet.Load() {
			return fairlead.Fatal(errors.New("the wall is wet"))
		}
		return nil
	}}, false)
	w.service.answer(503)
	b := w.newBatch(w.service.url + "/done")
	id := strconv.FormatInt(b.ID, 10)
	w.untilState(b.ID, batch.Fail)
	first, again := w.service.next(), w.service.next()
	if first.raw != again.raw || first.header.Get("Webhook-Id") != again.header.Get("Webhook-Id") {
		t.Errorf("told again it is %s, and was %s", again.raw, first.raw)
	}
	again.has(t, map[string]any{
		"id": "batch-" + id + "-1", "event": "batch_completed", "batch_id": id, "batch_name": "all red", "batch_type": "paint", "tenant": "acme", "completion": 1.0, "state": "fail",
	})
	if again.path != "/done" || again.body["tally"].(map[string]any)["fail"] != 1.0 || again.body["ended_at"] == "" || again.body["url"] != nil {
		t.Errorf("told is %s", again.raw)
	}
	key, err := w.client.SigningKey(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("batch-" + id + "-1." + again.header.Get("Webhook-Timestamp") + "." + again.raw))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); again.header.Get("Webhook-Signature") != want || again.header.Get("Idempotency-Key") != "fairlead-batch-"+id+"-1" {
		t.Errorf("its headers are %v", again.header)
	}

	wet.Store(false)
	if _, err := w.batches.Retry(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	w.untilState(b.ID, batch.Success)
	w.service.next().has(t, map[string]any{"id": "batch-" + id + "-2", "completion": 2.0, "state": "success"})
	w.service.quiet()
}

// A caller that may enqueue must not be able to send signed messages to any address.
func TestACompletionThatABatchDidNotTellOfIsForged(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	w.node(w.store, handlers{"wall.paint": func(context.Context, *fairlead.Job) error { return nil }}, false)
	b := w.newBatch(w.service.url + "/done")
	w.untilState(b.ID, batch.Success)
	w.service.next()
	for name, change := range map[string]func(*batch.Completion, *fairlead.Job){
		"tenant": func(_ *batch.Completion, j *fairlead.Job) { j.Tenant = "mallory" },
		"url":    func(c *batch.Completion, _ *fairlead.Job) { c.URL = w.service.url + "/else" },
		"number": func(c *batch.Completion, _ *fairlead.Job) { c.Number = 2 },
		"id":     func(c *batch.Completion, _ *fairlead.Job) { c.ID = "another" },
		"batch":  func(c *batch.Completion, _ *fairlead.Job) { c.Batch = 1_000_000 },
	} {
		told := batch.Completion{ID: batch.CompletionID(b.ID, 1), URL: w.service.url + "/done", Batch: b.ID, Number: 1}
		job := &fairlead.Job{Kind: batch.CompletedKind}
		change(&told, job)
		var err error
		if job.Args, err = json.Marshal(told); err != nil {
			t.Fatal(err)
		}
		if done := w.ended(w.enqueue(job)); done.State != fairlead.Failed || done.Attempt != 1 {
			t.Errorf("with another %s it ended as %s: %s", name, done.State, done.Error)
		}
	}
	w.service.quiet()
}

func TestACompletionGoesWhereTheGuardAllows(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	w.node(w.store, handlers{"wall.paint": func(context.Context, *fairlead.Job) error { return nil }}, false)
	b := w.newBatch("http://169.254.169.254/latest/meta-data")
	w.untilState(b.ID, batch.Success)
	w.eventually("it is not told", func() bool {
		page, err := w.client.Find(t.Context(), fairlead.Filter{Kinds: []string{batch.CompletedKind}, States: []fairlead.State{fairlead.Failed}})
		return err == nil && len(page.Jobs) == 1 && strings.Contains(page.Jobs[0].Error, "--allow-target")
	})
}
