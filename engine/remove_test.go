package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// db-scheduler removes an execution whose failures are used up, if it is told to.
func TestAJobThatFailedForGoodIsRemovedIfItSaysSo(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("bad", fairlead.HandlerOptions{MaxAttempts: 2, Retry: fairlead.Fixed(time.Second)}, func(context.Context, *fairlead.Job) error { return errors.New("no") })
		w.handle("good", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.handle("mute", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return fairlead.Await(time.Second) })
		removed := &fairlead.Job{Kind: "bad", OnFail: fairlead.RemoveFailed, Key: "k", KeyScope: fairlead.KeyForever}
		expired := &fairlead.Job{Kind: "mute", OnFail: fairlead.RemoveFailed}
		kept := &fairlead.Job{Kind: "bad"}
		done := &fairlead.Job{Kind: "good", OnFail: fairlead.RemoveFailed}
		old := &fairlead.Job{Kind: "bad", OnFail: fairlead.RemoveFailed} // that failed while no node of this kind lived
		w.enqueue(old)
		w.run(engine.Options{}, func() { pass(10 * time.Second) })
		w.want("a node that dies leaves it to others", old, fairlead.Failed)
		w.run(engine.Options{}, func() {
			w.enqueue(removed, expired, kept, done)
			pass(30 * time.Second)
			w.want("it can be seen for a minute", removed, fairlead.Failed)
			pass(2 * time.Minute)
			for what, job := range map[string]*fairlead.Job{"one that failed": removed, "one without an answer": expired, "one of a node before": old} {
				if _, err := w.client.Get(w.t.Context(), job.ID); !errors.Is(err, fairlead.ErrNotFound) {
					t.Errorf("%s is there: %v", what, err)
				}
			}
			w.want("it says nothing", kept, fairlead.Failed)
			w.want("it succeeded", done, fairlead.Succeeded)
			w.enqueue(&fairlead.Job{Kind: "good", Key: "k"}) // the key went with the job
		})
	})
}

// retrier retries each job that a node finds to remove, before the node removes it.
type retrier struct {
	driver.Store
	found int
}

func (r *retrier) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	page, err := r.Store.FindPage(ctx, filter)
	if filter.OnFail == fairlead.RemoveFailed {
		for _, job := range page.Jobs {
			if time.Since(job.FinishedAt) > fairlead.RemoveAfter {
				r.found++
				err = errors.Join(err, r.Operate(ctx, job.ID, fairlead.Operation{Op: fairlead.OpReopen}))
			}
		}
	}
	return page, err
}

func TestAJobThatIsRetriedWhileItIsRemovedStays(t *testing.T) {
	inBubble(t, func(w *world) {
		fails := true
		w.handle("bad", fairlead.HandlerOptions{MaxAttempts: 1}, func(context.Context, *fairlead.Job) error {
			if fails {
				return errors.New("no")
			}
			return nil
		})
		job := &fairlead.Job{Kind: "bad", OnFail: fairlead.RemoveFailed}
		w.enqueue(job)
		w.run(engine.Options{}, func() { pass(10 * time.Second) })
		fails = false
		store := &retrier{Store: w.store}
		w.engineStore = store
		w.run(engine.Options{}, func() { pass(2 * time.Minute) })
		if store.found == 0 {
			t.Error("no job was found to remove")
		}
		w.want("a job that was retried", job, fairlead.Succeeded)
	})
}
