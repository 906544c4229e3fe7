// Package fairleadtest helps to test programs that use Fairlead: a node on a
// private in-memory database whose clock the test moves, and which runs jobs
// only when the test says so.
//
//	node := fairleadtest.New(t, mux)
//	signUp(ctx, node.Client, "ada@example.org")
//	fairleadtest.RequireEnqueued(t, node, SendWelcome, func(w Welcome) bool { return w.To == "ada@example.org" })
//	node.Drain()
package fairleadtest

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
)

// TB is the part of testing.TB that the helpers use.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
}

// Node is a node for one test. Its methods fail the test on any error.
type Node struct {
	Store  *sqlite.Store
	Client *fairlead.Client

	t       TB
	clock   *clock
	stepper *engine.Stepper
}

// New makes a node that ends with the test. Its clock stands still at a fixed
// moment until Advance.
func New(t TB, mux *fairlead.Mux) *Node {
	t.Helper()
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	store, err := sqlite.OpenWith(t.Context(), ":memory:", sqlite.Options{Clock: c.read})
	if err != nil {
		t.Fatalf("fairleadtest: open the database: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	stepper, err := engine.NewStepper(t.Context(), store, mux)
	if err != nil {
		t.Fatalf("fairleadtest: %v", err)
	}
	return &Node{Store: store, Client: fairlead.NewClient(store), t: t, clock: c, stepper: stepper}
}

// Now is the node's time.
func (n *Node) Now() time.Time { return n.clock.read() }

// Advance moves the node's time forward.
func (n *Node) Advance(d time.Duration) { n.clock.advance(d) }

// Work runs the first ready job once and returns it as it stands afterwards.
// It fails the test if no job is ready.
func (n *Node) Work() *fairlead.Job {
	n.t.Helper()
	job := n.step()
	if job == nil {
		n.t.Fatal("fairleadtest: no job is ready; is it scheduled for later, or its kind not handled?")
	}
	return job
}

// Drain runs jobs until none is ready, and returns them in the order in which
// they ran. A job that makes itself ready again and again fails the test.
func (n *Node) Drain() []*fairlead.Job {
	n.t.Helper()
	const tooMany = 100_000
	var jobs []*fairlead.Job
	for job := n.step(); job != nil; job = n.step() {
		if jobs = append(jobs, job); len(jobs) == tooMany {
			n.t.Fatalf("fairleadtest: %d runs and still jobs are ready", tooMany)
		}
	}
	return jobs
}

func (n *Node) step() *fairlead.Job {
	n.t.Helper()
	job, err := n.stepper.Step(n.t.Context())
	if err != nil {
		n.t.Fatalf("fairleadtest: run a job: %v", err)
	}
	return job
}

// RequireEnqueued returns the unfinished job of a kind whose args match, and
// fails the test unless there is exactly one. A nil match takes any args.
func RequireEnqueued[T any](t TB, n *Node, kind fairlead.Kind[T], match func(T) bool) *fairlead.Job {
	t.Helper()
	found := enqueued(t, n, kind, match)
	if len(found) != 1 {
		t.Fatalf("fairleadtest: %d unfinished jobs of kind %q match, want 1", len(found), kind.Name())
	}
	return found[0]
}

// RequireNotEnqueued fails the test if an unfinished job of a kind matches.
func RequireNotEnqueued[T any](t TB, n *Node, kind fairlead.Kind[T], match func(T) bool) {
	t.Helper()
	if found := enqueued(t, n, kind, match); len(found) > 0 {
		t.Fatalf("fairleadtest: %d unfinished jobs of kind %q match, want none; the first is job %d", len(found), kind.Name(), found[0].ID)
	}
}

func enqueued[T any](t TB, n *Node, kind fairlead.Kind[T], match func(T) bool) []*fairlead.Job {
	t.Helper()
	filter := fairlead.Filter{Kinds: []string{kind.Name()}, States: []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Running, fairlead.Waiting}}
	var found []*fairlead.Job
	for {
		page, err := n.Client.Find(t.Context(), filter)
		if err != nil {
			t.Fatalf("fairleadtest: find jobs: %v", err)
		}
		for _, job := range page.Jobs {
			args, err := kind.Args(job)
			if err != nil {
				t.Fatalf("fairleadtest: %v", err)
			}
			if match == nil || match(args) {
				found = append(found, job)
			}
		}
		if page.Next == 0 {
			return found
		}
		filter.Below = page.Next
	}
}

// clock is a time that moves only when the test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
