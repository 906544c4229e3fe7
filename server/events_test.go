package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/sqlite"
)

// eventful is a store with a caller who watches it.
type eventful struct {
	*testing.T
	ctx     context.Context // of the caller
	store   *sqlite.Store
	client  *fairlead.Client
	watcher *watcher
	heard   []string
	waits   bool // a job waits, longer at each look: the stats are always new
}

func newEventful(t *testing.T, identity caller.Identity) *eventful {
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	e := &eventful{T: t, store: store, client: fairlead.NewClient(store)}
	e.ctx = caller.With(t.Context(), caller.Caller{Identity: identity})
	e.watcher = &watcher{system: NewSystem(scope.New(store), nil), send: func(event *fairleadv1.Event) error {
		what := strings.TrimSpace(event.GetType() + " " + event.GetChange())
		if event.GetAt() == nil {
			t.Errorf("%s has no time", what)
		}
		if !e.waits || what != "stats" {
			e.heard = append(e.heard, what)
		}
		return nil
	}}
	return e
}

// hears looks once and expects events, in any order.
func (e *eventful) hears(after string, want ...string) {
	e.Helper()
	e.heard = nil
	if err := e.watcher.look(e.ctx); err != nil {
		e.Fatal(err)
	}
	slices.Sort(e.heard)
	slices.Sort(want)
	if !slices.Equal(e.heard, want) {
		e.Errorf("after %s %q is heard, want %q", after, e.heard, want)
	}
}

// claim starts the job of a kind on a node of its own.
func (e *eventful) claim(kind string) (fairlead.NodeID, *fairlead.Job) {
	e.Helper()
	node, err := e.store.Join(e.Context(), fairlead.Node{Name: "n", Kinds: []string{kind}, Slots: 1}, time.Hour)
	if err != nil {
		e.Fatal(err)
	}
	jobs, err := e.store.Claim(e.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{kind}}, Max: 1})
	if err != nil || len(jobs) != 1 {
		e.Fatalf("%d jobs of %s are claimed: %v", len(jobs), kind, err)
	}
	return node, jobs[0]
}

func (e *eventful) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func TestWhoWatchesHearsEachChangeOnce(t *testing.T) {
	e := newEventful(t, caller.Local)
	ctx := t.Context()
	old, err := e.store.Join(ctx, fairlead.Node{Name: "old", Kinds: []string{"k"}}, time.Hour)
	e.must(err)
	e.hears("nothing: how it stands is told", "stats")
	e.hears("nothing again")

	e.must(e.store.Drain(ctx, old, true))
	e.hears("a node was drained", "node draining")
	e.hears("nothing more")
	e.must(e.client.Enqueue(ctx, &fairlead.Job{Kind: "k", Tenant: "acme", MaxAttempts: 1}))
	node, job := e.claim("k")
	e.hears("a node has joined and begun a job", "node joined", "stats")
	_, err = e.store.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Fail, Error: "boom"}})
	e.must(err)
	e.hears("the job has failed", "failure", "stats")
	e.hears("nothing since then")
	e.must(e.store.Leave(ctx, node))
	e.hears("a node has left", "node left")
	e.hears("it is still gone")
	_, err = e.store.Join(ctx, fairlead.Node{Name: "victim", Kinds: []string{"k"}}, time.Microsecond)
	e.must(err)
	e.hears("a node has died", "node dead")

	e.waits = true
	_, err = e.store.Join(ctx, fairlead.Node{Name: "painter", Kinds: []string{"wall.paint"}}, time.Hour)
	e.must(err)
	batches := batch.NewClient(e.store)
	b, err := batches.Start(ctx, batch.Batch{Name: "b", Type: "paint"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}})
	e.must(err)
	e.hears("a batch was begun", "batch pending", "node joined")
	e.hears("it is as it was")
	_, task := e.claim("wall.paint")
	_, err = batch.Conduct(ctx, e.store, b.ID)
	e.must(err)
	e.hears("its task has begun", "batch running", "node joined")
	e.hears("it goes on")
	_, err = batches.Cancel(ctx, b.ID, "enough")
	e.must(err)
	_, err = batch.Conduct(ctx, e.store, b.ID)
	e.must(err)
	_, err = e.store.Settle(ctx, []fairlead.Settlement{{ID: task.ID, Fence: task.Fence, Move: fairlead.Drop}})
	e.must(err)
	_, err = batch.Conduct(ctx, e.store, b.ID)
	e.must(err)
	e.hears("it was cancelled and has ended", "batch cancel")
	e.hears("it has ended")
}

// Nodes belong to no tenant, and what other tenants do is theirs to know.
func TestWhoIsBoundToATenantHearsOfNothingElse(t *testing.T) {
	e := newEventful(t, caller.Identity{Name: "z", Role: access.RoleViewer, Tenants: []string{"zeta"}})
	ctx := t.Context()
	e.hears("nothing", "stats")
	e.must(e.client.Enqueue(ctx, &fairlead.Job{Kind: "k", Tenant: "acme", MaxAttempts: 1}))
	_, job := e.claim("k")
	_, err := e.store.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Fail, Error: "boom"}})
	e.must(err)
	_, err = e.store.Join(ctx, fairlead.Node{Name: "painter", Kinds: []string{"wall.paint"}}, time.Hour)
	e.must(err)
	_, err = batch.NewClient(e.store).Start(ctx, batch.Batch{Name: "b", Type: "paint", Tenant: "acme"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}})
	e.must(err)
	e.hears("acme has failed and begun a batch")
	e.must(e.client.Enqueue(ctx, &fairlead.Job{Kind: "k", Tenant: "zeta"}))
	e.hears("zeta has a job", "stats")
}

func TestWhoWatchesIsToldThatNothingCanBeSeen(t *testing.T) {
	e := newEventful(t, caller.Local)
	e.watcher.system = NewSystem(uncounted{e.store}, nil)
	if err := e.watcher.look(e.ctx); !errors.Is(err, fairlead.ErrUnavailable) || len(e.heard) != 0 {
		t.Errorf("heard are %v, %v", e.heard, err)
	}
}

// uncounted is a store that cannot count.
type uncounted struct{ Store }

func (uncounted) Usage(context.Context) (fairlead.UsageReport, error) {
	return fairlead.UsageReport{}, fairlead.ErrUnavailable
}
