package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// heldJobs is a store in which open transactions hold jobs, by their args. It answers
// held for these, or it is unavailable for any write that has one of them.
type heldJobs struct {
	driver.Store
	unavailable bool
	mu          sync.Mutex
	open        map[string]bool
	ids         map[int64]string
	writes      int // that had held jobs among them
}

func holdJobs(store driver.Store, args ...string) *heldJobs {
	h := &heldJobs{Store: store, open: map[string]bool{}, ids: map[int64]string{}}
	for _, arg := range args {
		h.open[arg] = true
	}
	return h
}

func (h *heldJobs) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	jobs, err := h.Store.Claim(ctx, claim)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, job := range jobs {
		h.ids[job.ID] = string(job.Args)
	}
	return jobs, err
}

func (h *heldJobs) free(args ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, arg := range args {
		delete(h.open, arg)
	}
}

func (h *heldJobs) holds(id int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[h.ids[id]]
}

func (h *heldJobs) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	answers := make([]fairlead.Settled, len(settlements))
	var free []fairlead.Settlement
	var at []int
	for i, s := range settlements {
		if h.holds(s.ID) {
			answers[i] = fairlead.SettledHeld
		} else {
			free, at = append(free, s), append(at, i)
		}
	}
	if len(free) < len(settlements) {
		h.mu.Lock()
		h.writes++
		h.mu.Unlock()
		if h.unavailable {
			return nil, fmt.Errorf("%w: a row is locked", fairlead.ErrUnavailable)
		}
	}
	settled, err := h.Store.Settle(ctx, free)
	for n, answer := range settled {
		answers[at[n]] = answer
	}
	return answers, err
}

func argued(arg string) *fairlead.Job {
	return &fairlead.Job{Kind: "k", Args: json.RawMessage(`"` + arg + `"`)}
}

func TestAHeldJobHoldsUpNoOtherSettlement(t *testing.T) {
	for _, unavailable := range []bool{false, true} {
		t.Run(fmt.Sprintf("unavailable %t", unavailable), func(t *testing.T) {
			inBubble(t, func(w *world) {
				store := holdJobs(w.store, `"a"`, `"b"`, `"c"`)
				store.unavailable = unavailable
				w.engineStore = store
				w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
				jobs := []*fairlead.Job{argued("a"), argued("b"), argued("c")}
				var others []*fairlead.Job
				for range 100 {
					others = append(others, argued("free"))
				}
				w.enqueue(append(jobs, others...)...)
				w.run(engine.Options{}, func() {
					for _, job := range others {
						w.wantSoon("a job next to those that are held", job, time.Minute)
					}
					pass(time.Minute)
					later := argued("later")
					w.enqueue(later)
					w.wantSoon("a job that ended later", later, 5*time.Second)
					for _, job := range jobs {
						w.want("a held job", job, fairlead.Running)
					}
					if store.writes > 3*120*len(jobs) {
						t.Errorf("%d writes were made in vain in two minutes", store.writes)
					}
					store.free(`"a"`, `"b"`, `"c"`)
					for _, job := range jobs {
						w.wantSoon("a job that was held", job, 5*time.Second)
					}
				})
			})
		})
	}
}

func TestTheLogNamesAHeldJobAndDoesNotRepeatItself(t *testing.T) {
	inBubble(t, func(w *world) {
		store, log := holdJobs(w.store, `"a"`), &strings.Builder{}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := argued("a")
		w.enqueue(job)
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			pass(70 * time.Second)
			store.free(`"a"`)
			w.wantSoon("the job", job, 5*time.Second)
		})
		named := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "an open transaction holds the job") && strings.Contains(line, fmt.Sprintf(`"job":%d,"kind":"k"`, job.ID)) {
				named++
			}
		}
		if named < 2 || named > 3 {
			t.Errorf("the log names the job %d times in 70 seconds:\n%s", named, log)
		}
	})
}

func TestTooManyHeldJobsStopTheClaimsOfTheirKindOnly(t *testing.T) {
	inBubble(t, func(w *world) {
		store := holdJobs(w.store, `"a"`)
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.handle("other", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		var jobs []*fairlead.Job
		for range 100 {
			jobs = append(jobs, argued("a"))
		}
		w.run(engine.Options{Slots: 2, QueueSize: 8, Poll: time.Minute}, func() {
			w.enqueue(jobs...)
			pass(10 * time.Minute)
			running := 0
			for _, job := range jobs {
				if w.get(job).State == fairlead.Running {
					running++
				}
			}
			if running == 0 || running > 2*(2+8) {
				t.Errorf("%d jobs are held", running)
			}
			other := &fairlead.Job{Kind: "other"}
			w.enqueue(other)
			w.wantSoon("a job of another kind", other, 5*time.Second)
			store.free(`"a"`)
			for _, job := range jobs {
				w.wantSoon("a job that was held", job, 10*time.Minute)
			}
		})
	})
}

func TestANodeThatEndsGivesUpHeldJobsAfterALease(t *testing.T) {
	inBubble(t, func(w *world) {
		store := holdJobs(w.store, `"a"`)
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := argued("a")
		w.enqueue(job)
		stop := w.start(engine.Options{})
		pass(time.Minute)
		if err := stop(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the node ended with %v", err)
		}
		store.free(`"a"`)
		w.run(engine.Options{}, func() {
			if done := w.wait(job); done.State != fairlead.Succeeded {
				t.Errorf("the job is %s", done.State)
			}
		})
	})
}
