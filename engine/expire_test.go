package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// undying is a store that does not end waits while it is told so.
type undying struct {
	driver.Store
	mu     sync.Mutex
	broken bool
}

func (u *undying) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.broken {
		return 0, errors.New("no connection")
	}
	return u.Store.Expire(ctx, overdue)
}

// Source 004, briefing: the tenant is notified of a timeout. A node that dies before it
// has stored the timeout must not swallow it.
func TestAMissedDeadlineIsToldBeforeItIsStoredAndTriedAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &undying{Store: w.store, broken: true}
		w.engineStore = store
		options := fairlead.HandlerOptions{MaxAttempts: 2, Retry: fairlead.Fixed(10 * time.Second)}
		w.handle("remote", options, func(context.Context, *fairlead.Job) error { return fairlead.Await(2 * time.Minute).OrRetry() })
		w.handle("final", options, func(context.Context, *fairlead.Job) error { return fairlead.Await(2 * time.Minute) })
		var mu sync.Mutex
		told := map[int64]map[int]bool{}
		listener := engine.Listener{Tenant: "acme", OnDeadline: func(_ context.Context, jobs []*fairlead.Job) {
			mu.Lock()
			defer mu.Unlock()
			for _, job := range jobs {
				if told[job.ID] == nil {
					told[job.ID] = map[int]bool{}
				}
				told[job.ID][job.Attempt] = true
			}
		}}
		remote, final, other := &fairlead.Job{Kind: "remote", Tenant: "acme"}, &fairlead.Job{Kind: "final", Tenant: "acme"}, &fairlead.Job{Kind: "final"}
		w.enqueue(remote, final, other)
		attempts := func(job *fairlead.Job) int {
			mu.Lock()
			defer mu.Unlock()
			return len(told[job.ID])
		}
		w.run(engine.Options{Listeners: []engine.Listener{listener}}, func() {
			pass(2*time.Minute + 30*time.Second)
			w.want("its end is not stored", remote, fairlead.Waiting)
			if attempts(remote) != 1 || attempts(final) != 1 || attempts(other) != 0 {
				t.Errorf("told was %v", told)
			}
			store.mu.Lock()
			store.broken = false
			store.mu.Unlock()
			pass(30 * time.Second)
			w.want("it waits again", remote, fairlead.Waiting)
			w.want("it is not tried again", final, fairlead.Failed)
			pass(3 * time.Minute)
			w.want("its attempts are used up", remote, fairlead.Failed)
			if attempts(remote) != 2 {
				t.Errorf("told was %v", told)
			}
		})
	})
}
