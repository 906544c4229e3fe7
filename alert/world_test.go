package alert_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/reserved"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
)

// every is how often a look may be taken.
const every = 5 * time.Second

// world is a database whose clock the test moves, and a node that does only what the test
// makes it do.
type world struct {
	*testing.T
	store  driver.Store
	client *fairlead.Client
	alerts *alert.Client
	clock  *atomic.Int64
	node   fairlead.NodeID
}

func newWorld(t *testing.T) *world {
	t.Helper()
	clock := &atomic.Int64{}
	clock.Store(time.Date(2030, 1, 1, 12, 0, 3, 0, time.UTC).UnixMicro())
	store := sqlitetest.OpenWith(t, sqlite.Options{Clock: func() time.Time { return time.UnixMicro(clock.Load()) }})
	t.Cleanup(func() { _ = store.Close() })
	w := &world{T: t, store: store, client: fairlead.NewClient(store), alerts: alert.NewClient(store), clock: clock}
	var err error
	w.node, err = store.Join(t.Context(), fairlead.Node{Name: "n"}, 1000*time.Hour)
	w.ok(err)
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// pass moves the clock, back if d is negative.
func (w *world) pass(d time.Duration) { w.clock.Add(d.Microseconds()) }

func (w *world) set(rule alert.Rule) alert.Rule {
	w.Helper()
	if rule.URL == "" {
		rule.URL = "https://example.org/alerts"
	}
	stored, err := w.alerts.Set(w.Context(), rule)
	w.ok(err)
	return stored
}

// enqueue stores jobs that are alike.
func (w *world) enqueue(n int, job fairlead.Job) {
	w.Helper()
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		own := job
		jobs[i] = &own
	}
	w.ok(w.client.Enqueue(w.Context(), jobs...))
}

// start claims the ready jobs of a kind.
func (w *world) start(kind string) []*fairlead.Job {
	w.Helper()
	var all []*fairlead.Job
	for {
		jobs, err := w.store.Claim(w.Context(), driver.Claim{Node: w.node, Scope: &driver.Scope{Kinds: []string{kind}}, Max: 1000})
		w.ok(err)
		if len(jobs) == 0 {
			return all
		}
		all = append(all, jobs...)
	}
}

// end settles jobs that run.
func (w *world) end(jobs []*fairlead.Job, move fairlead.Move) {
	w.Helper()
	for some := range slices.Chunk(jobs, 1000) {
		settlements := make([]fairlead.Settlement, len(some))
		for i, job := range some {
			settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, FreeKey: true}
			if move == fairlead.Fail {
				settlements[i].Reason, settlements[i].Error = fairlead.ReasonError, "no luck"
			}
		}
		_, err := w.store.Settle(w.Context(), settlements)
		w.ok(err)
	}
}

// fail makes jobs that fail for good, now.
func (w *world) fail(n int, job fairlead.Job) []*fairlead.Job {
	w.Helper()
	w.enqueue(n, job)
	jobs := w.start(job.Kind)
	w.end(jobs, fairlead.Fail)
	return jobs
}

// look waits for the next look and takes it.
func (w *world) look() []alert.Sent {
	w.Helper()
	return w.lookOn(w.store)
}

func (w *world) lookOn(source alert.Source) []alert.Sent {
	w.Helper()
	sent, err := w.tryLook(source)
	w.ok(err)
	return sent
}

func (w *world) tryLook(source alert.Source) ([]alert.Sent, error) {
	w.pass(every + time.Second) // a look that counted many asks for a rest
	return alert.Look(w.Context(), source, every)
}

// told returns the stored messages, oldest first.
func (w *world) told() []alert.Occasion {
	w.Helper()
	jobs, err := w.store.Find(w.Context(), fairlead.Filter{Queues: []string{reserved.NoticeQueue}, Tenants: []string{reserved.NoticeTenant}, Kinds: []string{"http"}})
	w.ok(err)
	slices.Reverse(jobs)
	told := make([]alert.Occasion, len(jobs))
	for i, job := range jobs {
		var call struct{ Vars alert.Occasion }
		w.ok(json.Unmarshal(job.Args, &call))
		told[i] = call.Vars
	}
	return told
}

// wantSent compares what a look has sent.
func (w *world) wantSent(got []alert.Sent, want ...alert.Sent) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("it sent %v, want %v", got, want)
	}
}

// errCut is a connection that was cut.
var errCut = errors.New("the connection was cut")

// cutting is a store that fails at the end of a look, before or after it is stored.
type cutting struct {
	driver.Store
	before, after bool
}

func (c *cutting) EndLook(ctx context.Context, found alert.Found) (bool, error) {
	if c.before {
		return false, errCut
	}
	ended, err := c.Store.EndLook(ctx, found)
	if c.after {
		return false, errCut
	}
	return ended, err
}
