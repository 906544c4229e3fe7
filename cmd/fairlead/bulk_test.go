package main

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

var bulkJobs = flag.Int("bulk-jobs", 10_000, "how many jobs the tests of bulks act upon in the second tier")

// bulkWorld is a database with jobs that no node runs, and nodes in processes of their own.
type bulkWorld struct {
	*testing.T
	total int // jobs
	args  []string
	store interface {
		bulk.Source
		access.Store
	}
	client *fairlead.Client
	bulks  *bulk.Client
}

// onEachDatabase runs a test of bulks on all of them, each with so many jobs.
func onEachDatabase(t *testing.T, total int, test func(w *bulkWorld)) {
	for name, database := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return sqlitetest.URL(t) },
		"postgres": func(t *testing.T) string { return testdb.Postgres(t) },
		"mysql":    func(t *testing.T) string { return testdb.MySQL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			store, err := openStore(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			w := &bulkWorld{
				T: t, total: total, args: []string{"--db", db, "--poll", "50ms"},
				store: store, client: fairlead.NewClient(store), bulks: bulk.NewClient(store),
			}
			w.enqueue(total)
			test(w)
		})
	}
}

// enqueue stores jobs of a kind that no node handles.
func (w *bulkWorld) enqueue(n int) {
	w.Helper()
	for part := range 1 + (n-1)/1000 {
		jobs := make([]*fairlead.Job, min(1000, n-1000*part))
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "unheard"}
		}
		if err := w.client.Enqueue(w.Context(), jobs...); err != nil {
			w.Fatal(err)
		}
	}
}

// start stores a bulk that moves all jobs, and one job more that is not its own.
func (w *bulkWorld) start(rate float64) bulk.Bulk {
	w.Helper()
	b, err := w.bulks.Start(w.Context(), bulk.Bulk{
		Action: bulk.Move, Queue: "moved", Rate: rate, Actor: "ann", Role: access.RoleOperator,
		Filter: fairlead.Filter{Kinds: []string{"unheard"}, Queues: []string{fairlead.DefaultQueue}},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.enqueue(1)
	return b
}

// until waits until so many jobs are done.
func (w *bulkWorld) until(id, done int64) {
	w.Helper()
	for begun := time.Now(); time.Since(begun) < patience.Limit; <-time.After(5 * time.Millisecond) {
		b, err := w.bulks.Get(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		if b.Done >= done || b.State.Final() {
			return
		}
	}
	w.Fatalf("%d jobs are not done", done)
}

// end waits for the end of a bulk.
func (w *bulkWorld) end(id int64, want bulk.State) bulk.Bulk {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit)
	defer cancel()
	b, err := w.bulks.Wait(ctx, id)
	if err != nil || b.State != want || b.Missed != 0 {
		w.Fatalf("the bulk ended as %+v, %v", b, err)
	}
	return b
}

// wantMoved expects that so many jobs were moved, each with one entry of the audit log, and
// all others were not.
func (w *bulkWorld) wantMoved(want int64) {
	w.Helper()
	count := func(queue string) int64 {
		found, err := w.client.TallyUpTo(w.Context(), fairlead.Filter{Kinds: []string{"unheard"}, Queues: []string{queue}}, 0)
		if err != nil {
			w.Fatal(err)
		}
		return found.Total()
	}
	if moved, left := count("moved"), count(fairlead.DefaultQueue); moved != want || left != int64(w.total)+1-want {
		w.Errorf("%d jobs were moved and %d were left, of which %d should have been moved", moved, left, want)
	}
	entries := map[string]int{}
	for filter := (access.Filter{Action: "MoveJob", Limit: 1000}); ; {
		page, err := w.store.AuditLog(w.Context(), filter)
		if err != nil {
			w.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, entry := range page {
			if entries[entry.Subject]++; entries[entry.Subject] > 1 {
				w.Errorf("%s has several entries", entry.Subject)
			}
		}
		filter.Below = page[len(page)-1].ID
	}
	if int64(len(entries)) != want {
		w.Errorf("%d jobs have an entry, not %d", len(entries), want)
	}
}

func TestABulkWhoseNodesAreKilledActsUponEachJobOnce(t *testing.T) {
	tier.Long(t, "kills nodes and waits for their leases to end")
	onEachDatabase(t, *bulkJobs, func(w *bulkWorld) {
		w.args = append(w.args, "--beat", "500ms", "--lease", "3s")
		total := int64(w.total)
		b := w.start(0)
		begun := time.Now()
		for _, share := range []int64{5, 3, 2} { // killed after a fifth, a third, a half
			node := startProcess(w.T, w.args...)
			w.until(b.ID, total/share)
			node.kill()
		}
		startProcess(w.T, w.args...)
		b = w.end(b.ID, bulk.Completed)
		w.Logf("%d jobs in %v, with three nodes killed on the way", b.Done, time.Since(begun))
		w.wantMoved(total)
	})
}

func TestABulkThatIsStoppedLeavesTheRestUntouched(t *testing.T) {
	total := tier.Size(t, 400, *bulkJobs, "many jobs on each database")
	onEachDatabase(t, total, func(w *bulkWorld) {
		b := w.start(float64(total) / 400) // it would take minutes
		startProcess(w.T, w.args...)
		w.until(b.ID, 1)
		if _, err := w.bulks.Stop(w.Context(), b.ID); err != nil {
			t.Fatal(err)
		}
		b = w.end(b.ID, bulk.Stopped)
		if b.Done == 0 || b.Done == int64(total) {
			w.Errorf("it was stopped after %d of %d jobs", b.Done, total)
		}
		w.wantMoved(b.Done)
	})
}
