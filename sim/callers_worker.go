package sim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of callers' transactions on PostgreSQL

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
)

// lender opens transactions like callers do, on connections of its own.
type lender struct {
	db     *sql.DB
	client *fairlead.Client
	within func(*sql.Tx) driver.Tx
	to     *Recorder
}

// newLender returns a lender, or nil for SQLite, where all writers wait for any open
// transaction.
func newLender(store driver.Store, url string, to *Recorder) (_ *lender, err error) {
	l := &lender{client: fairlead.NewClient(store), to: to}
	switch s := store.(type) {
	case *postgres.Store:
		l.within = s.SQLTx
		l.db, err = sql.Open("pgx", url)
	case *mysql.Store:
		l.within = s.Tx
		config, parseErr := mysqlurl.Parse(url)
		if parseErr != nil {
			return nil, parseErr
		}
		l.db, err = sql.Open("mysql", config.FormatDSN())
	default:
		err = fmt.Errorf("callers cannot leave transactions open on a %T", store)
	}
	return l, err
}

// begin opens a transaction.
func (l *lender) begin(ctx context.Context) (*sql.Tx, *fairlead.TxClient, error) {
	tx, err := l.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("begin a caller's transaction: %w: %w", fairlead.ErrUnavailable, err)
	}
	return tx, l.client.Within(l.within(tx)), nil
}

// handle registers the kinds of the callers' jobs.
func (l *lender) handle(mux *fairlead.Mux) {
	options := fairlead.HandlerOptions{MaxRunning: 1, Retry: fairlead.Fixed(retryPause), MaxAttempts: 1000}
	hold.HandleWith(mux, options, func(ctx context.Context, job *fairlead.Job, in holding) error { return l.hang(ctx, job, in) })
	options.MaxRunning = 0
	brief.HandleWith(mux, options, func(context.Context, *fairlead.Job, struct{}) error { return nil })
}

// hang completes a job in a transaction and leaves the transaction open, whatever happens
// to the run. Every other time the handler returns before the transaction has ended.
func (l *lender) hang(ctx context.Context, job *fairlead.Job, in holding) error {
	tx, jobs, err := l.begin(ctx)
	if err != nil {
		return err
	}
	if err := jobs.Complete(ctx, job, nil); err != nil {
		return errors.Join(ignoreLost(err), tx.Rollback())
	}
	l.to.Note(Event{What: Lent, Node: job.Node, Job: job.ID, Fence: job.Fence})
	end := tx.Rollback
	if rand.IntN(2) == 0 {
		end = tx.Commit
	}
	later := func() error {
		if err := rest(context.WithoutCancel(ctx), rand.N(in.Longest)); err != nil {
			return err
		}
		return end()
	}
	if rand.IntN(2) == 0 {
		go func() { _ = later() }() // the result is ignored
		return nil
	}
	if err := later(); err != nil {
		return fmt.Errorf("%w: %w", fairlead.ErrUnavailable, err)
	}
	return nil
}

// ignoreLost returns nil for a job that was taken away or has ended: its handler returns as
// if it had succeeded.
func ignoreLost(err error) error {
	if errors.Is(err, fairlead.ErrLeaseLost) {
		return nil
	}
	return err
}

// enqueueForever is the main loop of a caller process. After an error of the database it
// tries again later.
func (l *lender) enqueueForever(ctx context.Context, longest time.Duration) {
	const atOnce = 4
	var callers sync.WaitGroup
	defer callers.Wait()
	for range atOnce {
		callers.Go(func() {
			for rest(ctx, rand.N(longest/4+1)) == nil {
				_ = l.enqueueKeyed(ctx, longest)
			}
		})
	}
	callers.Go(func() {
		for rest(ctx, rand.N(longest)) == nil { // larger than the number of jobs, so it has no effect
			_ = l.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: brief.Name(), MaxRunning: 1000 + rand.IntN(1000)})
		}
	})
}

// enqueueKeyed enqueues a job with a key in a transaction that stays open for a while.
func (l *lender) enqueueKeyed(ctx context.Context, longest time.Duration) error {
	tx, jobs, err := l.begin(ctx)
	if err != nil {
		return err
	}
	job := brief.Job(struct{}{})
	job.Key = heldKey(rand.IntN(heldKeys))
	err = jobs.Enqueue(ctx, job)
	if err == nil {
		err = rest(ctx, rand.N(longest))
	}
	if err != nil || rand.IntN(2) == 0 {
		if job.ID != 0 && err == nil {
			l.to.Note(Event{What: RolledBack, Job: job.ID})
		}
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	l.to.Note(Event{What: Committed, Job: job.ID})
	jobs.Wake()
	return nil
}
