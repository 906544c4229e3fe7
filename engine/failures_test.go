package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

func TestAFailedAttemptIsLoggedWithItsNextTry(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{MaxAttempts: 3, Retry: fairlead.Fixed(time.Minute)}, func(context.Context, *fairlead.Job) error {
			return errors.New("the target is away")
		})
		log, job := &lines{}, &fairlead.Job{Kind: "k", Tenant: "acme"}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			w.enqueue(job)
			w.wait(job)
		})
		found := log.with(t, "attempt failed")
		if len(found) != 2 {
			t.Fatalf("two attempts were repeated, and the log has %v", found)
		}
		for i, line := range found {
			at, err := time.Parse(time.RFC3339Nano, line["time"].(string))
			next, errNext := time.Parse(time.RFC3339Nano, line["next_try"].(string))
			if err != nil || errNext != nil || next.Sub(at).Round(time.Second) != time.Minute {
				t.Errorf("the next try is not a minute later: %v", line)
			}
			if line["level"] != "WARN" || line["job"] != float64(job.ID) || line["kind"] != "k" || line["attempt"] != float64(i+1) || line["error"] != "the target is away" || line["reason"] != "error" {
				t.Errorf("got %v", line)
			}
		}
		if failed := log.with(t, "job failed"); len(failed) != 1 || failed[0]["attempt"] != 3.0 {
			t.Errorf("the last attempt: %v", failed)
		}
	})
}

func TestThePanicOfAnAttemptIsLoggedWithoutItsStack(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{MaxAttempts: 1}, func(context.Context, *fairlead.Job) error { panic("no such customer") })
		log, job := &lines{}, &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			w.enqueue(job)
			if ended := w.wait(job); !strings.Contains(ended.Error, "failures_test.go") {
				t.Errorf("the job keeps no stack: %s", ended.Error)
			}
		})
		failed := log.with(t, "job failed")
		if len(failed) != 1 || failed[0]["error"] != "panic: no such customer" {
			t.Errorf("got %v", failed)
		}
	})
}

func TestOfManyFailedAttemptsOfAKindAFewAreLoggedAndTheOthersCounted(t *testing.T) {
	inBubble(t, func(w *world) {
		const jobs = 1000
		fails := func(context.Context, *fairlead.Job) error { return errors.New("no") }
		w.handle("many", fairlead.HandlerOptions{MaxAttempts: 1}, fails)
		w.handle("one", fairlead.HandlerOptions{MaxAttempts: 1}, fails)
		log, one := &lines{}, &fairlead.Job{Kind: "one"}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			for range jobs {
				w.enqueue(&fairlead.Job{Kind: "many"})
			}
			pass(time.Second)
			w.enqueue(one)
			w.wait(one)
			pass(time.Minute)
		})
		single := map[any]int{}
		for _, line := range log.with(t, "job failed") {
			single[line["kind"]]++
		}
		more := 0
		for _, line := range log.with(t, "more jobs failed") {
			if line["kind"] != "many" || line["last_error"] != "no" {
				t.Errorf("got %v", line)
			}
			more += int(line["more"].(float64))
		}
		if single["many"] == 0 || single["many"] > 50 || single["many"]+more != jobs || single["one"] != 1 {
			t.Errorf("%v are logged one by one, and %d are counted", single, more)
		}
	})
}
