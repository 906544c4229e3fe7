package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// everyCaller runs a test with a program on each database.
func everyCaller(t *testing.T, test func(c *caller)) {
	callers(t, test)
	t.Run("SQLite", func(t *testing.T) {
		store := sqlitetest.Open(t)
		t.Cleanup(func() { _ = store.Close() })
		test(&caller{T: t, store: store, db: store.DB(), in: store.Tx})
	})
}

// commit runs f in a transaction and commits it. It does not call Wake.
func (c *caller) commit(ctx context.Context, f func(client *fairlead.TxClient) error) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func(tx *sql.Tx) { _ = tx.Rollback() }(tx)
	if err := f(fairlead.NewClient(c.store).Within(c.in(tx))); err != nil {
		return err
	}
	return tx.Commit()
}

// runWithoutPolling runs a node that finds work only if it is woken.
func (c *caller) runWithoutPolling(during func()) {
	c.Helper()
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		return c.commit(ctx, func(client *fairlead.TxClient) error { return client.Complete(ctx, job, nil) })
	}))
	node, err := engine.New(c.store, mux, engine.Options{Name: "n", Slots: 8, Poll: 2 * patience.Limit})
	if err != nil {
		c.Fatal(err)
	}
	ctx, stop := context.WithCancel(c.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			c.Errorf("the node ended with %v", err)
		}
	}()
	during()
}

// untilEnded waits for the end of jobs.
func (c *caller) untilEnded(jobs []*fairlead.Job) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), patience.Limit)
	defer cancel()
	begun := time.Now()
	for i, job := range jobs {
		if _, err := fairlead.NewClient(c.store).Wait(ctx, job.ID); err != nil {
			tally, _ := fairlead.NewClient(c.store).Tally(c.Context(), fairlead.Filter{})
			c.Fatalf("%d of %d jobs ended; no poll was due: %v; the jobs are %v", i, len(jobs), err, tally)
		}
	}
	c.Logf("%d jobs ended after %v", len(jobs), time.Since(begun).Round(time.Millisecond))
}

func TestASlotFreedInATransactionIsFilledWithoutAPoll(t *testing.T) {
	everyCaller(t, func(c *caller) {
		if err := fairlead.NewClient(c.store).SetLimit(c.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "k", MaxRunning: 1}); err != nil {
			c.Fatal(err)
		}
		c.runWithoutPolling(func() {
			jobs := newJobs(10, "")
			if err := fairlead.NewClient(c.store).Enqueue(c.Context(), jobs...); err != nil {
				c.Fatal(err)
			}
			c.untilEnded(jobs)
		})
	})
}

func TestAGateFreedInATransactionAdmitsWithoutAPoll(t *testing.T) {
	everyCaller(t, func(c *caller) {
		c.runWithoutPolling(func() {
			jobs := newJobs(10, "gate")
			if err := fairlead.NewClient(c.store).Enqueue(c.Context(), jobs...); err != nil {
				c.Fatal(err)
			}
			c.untilEnded(jobs)
		})
	})
}

func TestJobsEnqueuedInATransactionStartWithoutAPoll(t *testing.T) {
	everyCaller(t, func(c *caller) {
		c.runWithoutPolling(func() {
			var all []*fairlead.Job
			for i := range 10 {
				jobs := newJobs(2, fmt.Sprint("gate", i%3))
				err := c.commit(c.Context(), func(client *fairlead.TxClient) error { return client.Enqueue(c.Context(), jobs...) })
				if err != nil {
					c.Fatal(err)
				}
				all = append(all, jobs...)
				if i%2 == 0 {
					c.untilEnded(all)
				}
			}
			c.untilEnded(all)
		})
	})
}

// deafStore listens only when it is allowed to.
type deafStore struct {
	driver.Store
	allowed chan struct{}
}

func (s deafStore) Listen(ctx context.Context, scope *driver.Scope, wake func(driver.Wake)) error {
	<-s.allowed
	return s.Store.Listen(ctx, scope, wake)
}

func TestAJobThatCameBeforeTheNodeListenedStartsWithoutAPoll(t *testing.T) {
	everyCaller(t, func(c *caller) {
		allowed := make(chan struct{})
		c.store = deafStore{c.store, allowed}
		before, meanwhile := newJobs(1, ""), newJobs(1, "")
		if err := fairlead.NewClient(c.store).Enqueue(c.Context(), before...); err != nil {
			c.Fatal(err)
		}
		c.runWithoutPolling(func() {
			c.untilEnded(before)
			if err := fairlead.NewClient(c.store).Enqueue(c.Context(), meanwhile...); err != nil {
				c.Fatal(err)
			}
			close(allowed)
			c.untilEnded(meanwhile)
		})
	})
}

// newJobs returns jobs for the handler that completes in its own transaction.
func newJobs(n int, concurrencyKey string) []*fairlead.Job {
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "k", ConcurrencyKey: concurrencyKey}
	}
	return jobs
}
