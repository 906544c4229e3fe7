package external_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/sqlite"
)

// A timeout is reported, whatever the handler returned after it.
func TestATimeoutIsToldWhateverTheHandlerReturns(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context) error{
		"an error":       func(ctx context.Context) error { return ctx.Err() },
		"a fatal error":  func(ctx context.Context) error { return fairlead.Fatal(ctx.Err()) },
		"a retry":        func(ctx context.Context) error { return fairlead.RetryAfter(time.Millisecond, ctx.Err()) },
		"a later time":   func(context.Context) error { return fairlead.SnoozeFor(time.Millisecond) },
		"nothing: panic": func(ctx context.Context) error { panic(ctx.Err()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := listening(t)
			w.node(w.store, handlers{"k": func(ctx context.Context, job *fairlead.Job) error {
				if job.Attempt > 1 {
					return nil
				}
				<-ctx.Done()
				return end(ctx)
			}}, false)
			w.ended(w.enqueue(&fairlead.Job{Kind: "k", Timeout: 100 * time.Millisecond}))
			for told := ""; told != "/timeout"; { // next fails if there is none
				told = w.service.next().path
			}
		})
	}
}

// A timeout that was noted before the crash that ended the job is told.
func TestATimeoutBeforeTheLastCrashIsTold(t *testing.T) {
	var ahead atomic.Int64
	w := newWorld(t, sqlite.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	w.declareListening(fairlead.Tenant{})
	job := w.enqueue(&fairlead.Job{Kind: "deadly"})
	node, err := w.store.Join(t.Context(), fairlead.Node{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := w.store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"deadly"}}, Max: 1})
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	args := fmt.Sprintf(`{"event":"timeout","id":"%d","tenant":"acme","fence":"%d","attempt":1}`, job.ID, claimed[0].Fence)
	notice := &fairlead.Job{Kind: external.NoticeKind, Tenant: external.NoticeTenant, Queue: external.NoticeQueue, Args: json.RawMessage(args)}
	w.enqueue(notice)
	ahead.Store(int64(time.Hour))
	if reaped, err := w.store.Reap(t.Context(), driver.Reap{Limit: 10}); err != nil || reaped.Poisoned != 1 {
		t.Fatal(reaped, err)
	}
	w.node(w.store, nil, false)
	if done := w.ended(notice); done.State != fairlead.Succeeded {
		t.Errorf("it ended as %s: %s", done.State, done.Error)
	}
}
