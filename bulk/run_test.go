package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sqlite"
)

// world is a node in virtual time that carries out bulks.
type world struct {
	*testing.T
	*fairleadtest.VirtualNode
}

// inVirtualTime runs a test with a node. wrap stands between the node and the store.
func inVirtualTime(t *testing.T, wrap func(*sqlite.Store) bulk.Source, test func(w *world)) {
	fairleadtest.Virtual(t, func(mux *fairlead.Mux, store *sqlite.Store) {
		bulk.Register(mux, wrap(store))
	}, func(node *fairleadtest.VirtualNode) { test(&world{node.T, node}) })
}

func unwrapped(store *sqlite.Store) bulk.Source { return store }

// enqueue stores jobs of a kind that no node handles.
func (w *world) enqueue(n int) {
	w.Helper()
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "unheard"}
	}
	w.ok(w.Client.Enqueue(w.Context(), jobs...))
	w.Pass(time.Second) // they are older than what follows
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) start(b bulk.Bulk) bulk.Bulk {
	w.Helper()
	stored, err := w.Bulks.Start(w.Context(), b)
	w.ok(err)
	return stored
}

func (w *world) get(id int64) bulk.Bulk {
	w.Helper()
	b, err := w.Bulks.Get(w.Context(), id)
	w.ok(err)
	return b
}

// wantOnce expects that each of so many jobs was cancelled, with one entry of the audit log.
func (w *world) wantOnce(n int) {
	w.Helper()
	tally, err := w.Store.Tally(w.Context(), fairlead.Filter{Kinds: []string{"unheard"}})
	w.ok(err)
	if tally[fairlead.Cancelled] != int64(n) {
		w.Errorf("the jobs are %v, of which %d should be cancelled", tally, n)
	}
	entries, err := w.Store.AuditLog(w.Context(), access.Filter{Action: "CancelJob", Limit: 10 * n})
	w.ok(err)
	subjects := map[string]bool{}
	for _, entry := range entries {
		subjects[entry.Subject] = true
	}
	if len(entries) != n || len(subjects) != n {
		w.Errorf("%d jobs have %d entries, not %d", len(subjects), len(entries), n)
	}
}

func TestABulkGoesThroughAllJobsAndTouchesNoneThatAreNewer(t *testing.T) {
	inVirtualTime(t, unwrapped, func(w *world) {
		w.enqueue(250)
		b := w.start(bulk.Bulk{Action: bulk.Cancel, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
		w.enqueue(3)
		w.Pass(time.Minute)
		if b = w.get(b.ID); b.State != bulk.Completed || b.Matched != 250 || b.Done != 250 {
			w.Errorf("the bulk is %+v", b)
		}
		w.wantOnce(250)
	})
}

func TestJobsOfBulksAreLeftToTheirBulks(t *testing.T) {
	inVirtualTime(t, unwrapped, func(w *world) {
		w.enqueue(3)
		slow := w.start(bulk.Bulk{Action: bulk.Prioritize, Priority: 1, Rate: 0.1, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
		w.enqueue(1)
		all := w.start(bulk.Bulk{Action: bulk.Cancel})
		w.Pass(5 * time.Second)
		misses, err := w.Bulks.Misses(w.Context(), all.ID, bulk.MissFilter{})
		w.ok(err)
		want := bulk.Miss{Job: slow.ID, Why: fmt.Sprintf("job %d carries out a bulk; stop that bulk instead", slow.ID)}
		if len(misses) != 1 || misses[0] != want {
			w.Errorf("it missed %v", misses)
		}
		if b := w.get(slow.ID); b.State != bulk.Running {
			w.Errorf("the other bulk is %+v", b)
		}
		w.wantOnce(4)
	})
}

func TestABulkKeepsItsRate(t *testing.T) {
	inVirtualTime(t, unwrapped, func(w *world) {
		w.enqueue(100)
		b := w.start(bulk.Bulk{Action: bulk.Cancel, Rate: 2, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
		for range 5 {
			w.Pass(9 * time.Second)
			now, seen := w.Now(), w.get(b.ID)
			if most := int64(2*now.Sub(b.CreatedAt).Seconds()) + 2; seen.Done > most || seen.Done < most/2 {
				w.Errorf("%d jobs were done within %v", seen.Done, now.Sub(b.CreatedAt))
			}
		}
	})
}

func TestAStoppedBulkLeavesTheRest(t *testing.T) {
	inVirtualTime(t, unwrapped, func(w *world) {
		w.enqueue(100)
		b := w.start(bulk.Bulk{Action: bulk.Cancel, Rate: 1, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
		w.Pass(20 * time.Second)
		_, err := w.Bulks.Stop(w.Context(), b.ID)
		w.ok(err)
		w.Pass(20 * time.Second)
		if b = w.get(b.ID); b.State != bulk.Stopped || b.Done < 10 || b.Done > 25 {
			w.Errorf("the bulk is %+v", b)
		}
		w.wantOnce(int(b.Done))
	})
}

func TestTheJobOfABulkThatWasDeletedFailsAtOnce(t *testing.T) {
	inVirtualTime(t, unwrapped, func(w *world) {
		w.enqueue(100)
		b := w.start(bulk.Bulk{Action: bulk.Cancel, Rate: 1, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
		w.Pass(10 * time.Second)
		w.ok(w.Client.Cancel(w.Context(), b.ID, ""))
		w.Pass(10 * time.Second)
		w.ok(w.Bulks.Delete(w.Context(), b.ID))
		w.ok(w.Client.Retry(w.Context(), b.ID))
		w.Pass(10 * time.Second)
		if job, err := w.Client.Get(w.Context(), b.ID); err != nil || job.State != fairlead.Failed || job.Reason != fairlead.ReasonFatal {
			w.Errorf("the job is %+v (%v)", job, err)
		}
	})
}

// unreliable is a store whose steps fail as they are told to, before they are made or after.
type unreliable struct {
	*sqlite.Store
	fate func() (before, after error)
}

func (u *unreliable) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	before, after := u.fate()
	if before != nil {
		return bulk.Bulk{}, before
	}
	b, err := u.Store.StepBulk(ctx, step)
	if err == nil && after != nil {
		return bulk.Bulk{}, after
	}
	return b, err
}

func TestHoweverStepsFailEachJobIsActedUponOnce(t *testing.T) {
	outage, bug := fmt.Errorf("cut off: %w", fairlead.ErrUnavailable), errors.New("out of order")
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		fates := rapid.SliceOfN(rapid.SampledFrom([]error{nil, nil, outage, bug}), 12, 12).Draw(rt, "fates")
		jobs := rapid.IntRange(1, 250).Draw(rt, "jobs")
		step := 0
		inVirtualTime(t, func(store *sqlite.Store) bulk.Source {
			return &unreliable{store, func() (before, after error) {
				if step += 2; step > len(fates) {
					return nil, nil
				}
				return fates[step-2], fates[step-1]
			}}
		}, func(w *world) {
			w.enqueue(jobs)
			b := w.start(bulk.Bulk{Action: bulk.Cancel, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
			w.Pass(30 * time.Minute)
			if b = w.get(b.ID); b.State != bulk.Completed || b.Done != int64(jobs) {
				w.Errorf("the bulk is %+v", b)
			}
			w.wantOnce(jobs)
		})
	})
}

func TestABulkOfACauseIsAboutTheJobsThatFailedLikeIt(t *testing.T) {
	fairleadtest.Virtual(t, func(mux *fairlead.Mux, store *sqlite.Store) {
		bulk.Register(mux, store)
		mux.Handle("import", fairlead.HandlerOptions{MaxAttempts: 1}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
			if job.ID%3 == 0 {
				return errors.New("disk full")
			}
			return fmt.Errorf("order %d not found", job.ID)
		}))
	}, func(node *fairleadtest.VirtualNode) {
		w := &world{node.T, node}
		for range 9 {
			w.ok(w.Client.Enqueue(w.Context(), &fairlead.Job{Kind: "import"}))
		}
		w.Pass(time.Minute)
		asked := bulk.Bulk{Action: bulk.Delete, Cause: "order 4711 not found"}
		count, err := w.Bulks.Preview(w.Context(), asked)
		w.ok(err)
		if count.Total() != 6 || count.More {
			w.Errorf("%+v match", count)
		}
		made := w.start(asked)
		if made.Cause != "order N not found" || made.Matched != 6 {
			w.Errorf("it was stored as %+v", made)
		}
		w.Pass(time.Minute)
		if b := w.get(made.ID); b.State != bulk.Completed || b.Done != 6 || b.Missed != 0 {
			w.Errorf("it is %+v", b)
		}
		tally, err := w.Store.Tally(w.Context(), fairlead.Filter{Kinds: []string{"import"}})
		w.ok(err)
		if tally[fairlead.Failed] != 3 {
			w.Errorf("the others are %v", tally)
		}
	})
}
