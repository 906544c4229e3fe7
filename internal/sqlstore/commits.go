package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	commitsWatched = 1000                  // transactions watched at most; polling finds the jobs of the others
	commitLook     = 10 * time.Millisecond // delay before the first look; a caller that calls Wake is faster
	commitRest     = time.Second           // longest pause between two looks for a transaction
	commitPatience = time.Minute           // how long a transaction is watched
)

// Commits wakes nodes after callers commit their own transactions. A store does not see these
// commits. Commits therefore looks for a row that the transaction wrote, at increasing
// intervals and with one statement for all transactions that are due. While no transactions
// are open, it does nothing.
type Commits struct {
	db  Database
	sql *CommitStatements

	mu      sync.Mutex
	open    map[*Commit]struct{}
	changed chan struct{}      // signals that something is due earlier than the goroutine knows
	stop    context.CancelFunc // stops the goroutine; nil if none is running
	closed  bool
	work    sync.WaitGroup // the goroutine and running wakes
}

// CommitStatements holds the SQL statements of Commits.
type CommitStatements struct {
	StoredJobs string `sql:"stored_jobs"`
	LeasedJobs string `sql:"leased_jobs"`
}

// Commit is a caller's transaction that may have been committed.
type Commit struct {
	wake func() bool

	job   int64       // ID of a job that it enqueues, or 0
	lease driver.Held // lease that it ends, if it enqueues nothing
	until time.Time
	pause time.Duration
	next  time.Time
	seen  bool // the commit was seen
}

// NewCommits returns the Commits for a store.
func NewCommits(db Database, statements *CommitStatements) *Commits {
	return &Commits{db: db, sql: statements, open: map[*Commit]struct{}{}, changed: make(chan struct{}, 1)}
}

// Close stops watching for commits and waits for wakes that are in progress.
func (c *Commits) Close() {
	c.mu.Lock()
	c.closed = true
	if c.stop != nil {
		c.stop()
	}
	c.mu.Unlock()
	c.work.Wait()
}

// NewCommit returns a Commit for a transaction that has not changed anything yet. After the
// commit, Commits calls wake, which reports whether it woke the nodes. While the caller is
// still using the transaction, wake cannot wake them and returns false.
func NewCommit(wake func() bool) *Commit { return &Commit{wake: wake} }

// Enqueued starts watching for the commit of a transaction that has stored the given job.
func (c *Commits) Enqueued(commit *Commit, job int64) {
	c.watch(commit, func() { commit.job = job })
}

// Settled starts watching for the commit of a transaction that has ended leases. It watches
// the last of these leases, unless the transaction has also stored a job, which is better
// evidence. If all leases were already lost, Settled does nothing.
func (c *Commits) Settled(commit *Commit, settlements []fairlead.Settlement, settled []fairlead.Settled) {
	for i := len(settlements) - 1; i >= 0; i-- {
		if settled[i] != fairlead.SettledLost {
			c.watch(commit, func() { commit.lease = driver.Held{ID: settlements[i].ID, Fence: settlements[i].Fence} })
			return
		}
	}
}

func (c *Commits) watch(commit *Commit, trace func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trace()
	if _, known := c.open[commit]; c.closed || !known && len(c.open) >= commitsWatched {
		return
	}
	now := time.Now()
	commit.until, commit.pause, commit.next = now.Add(commitPatience), commitLook, now.Add(commitLook)
	c.open[commit] = struct{}{}
	c.start()
}

// start starts the goroutine, or makes it check for due transactions.
func (c *Commits) start() {
	if c.stop != nil {
		select {
		case c.changed <- struct{}{}:
		default:
		}
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.work.Go(func() { c.run(ctx) })
}

// Forget stops watching a transaction, because its caller has already woken the nodes.
func (c *Commits) Forget(commit *Commit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, commit)
}

// Ended reports settlements that the store has made or refused. A watched transaction that
// contains one of these settlements has ended.
func (c *Commits) Ended(settlements []fairlead.Settlement, settled []fairlead.Settled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 {
		return
	}
	leases := map[driver.Held]bool{}
	for i, s := range settlements {
		if settled[i] != fairlead.SettledHeld {
			leases[driver.Held{ID: s.ID, Fence: s.Fence}] = true
		}
	}
	for commit := range c.open {
		if commit.lease.ID != 0 && leases[commit.lease] {
			commit.seen, commit.next = true, time.Now()
			c.start()
		}
	}
}

// run looks for commits until no transactions are left.
func (c *Commits) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.changed:
		}
		c.look(ctx, c.due())
		c.mu.Lock()
		if len(c.open) == 0 {
			c.stop()
			c.stop = nil
			c.mu.Unlock()
			return
		}
		timer.Reset(c.idle())
		c.mu.Unlock()
	}
}

// idle returns the time until the next look.
func (c *Commits) idle() time.Duration {
	var first time.Time
	for commit := range c.open {
		if first.IsZero() || commit.next.Before(first) {
			first = commit.next
		}
	}
	return time.Until(first)
}

// due returns the transactions that are due for a look and drops those that are too old.
func (c *Commits) due() (due []*Commit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for commit := range c.open {
		switch {
		case now.After(commit.until):
			delete(c.open, commit)
		case !now.Before(commit.next):
			due = append(due, commit)
		}
	}
	return due
}

// look finds out which transactions have committed and wakes nodes.
func (c *Commits) look(ctx context.Context, due []*Commit) {
	if len(due) == 0 {
		return
	}
	seen := c.ask(ctx, due)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, commit := range due {
		if _, open := c.open[commit]; !open {
			continue
		}
		commit.pause = min(2*commit.pause, commitRest)
		commit.next = time.Now().Add(commit.pause)
		if seen[i] || commit.seen {
			delete(c.open, commit)
			c.work.Go(func() { c.wake(commit) })
		}
	}
}

// wake wakes nodes, or schedules a retry.
func (c *Commits) wake(commit *Commit) {
	if commit.wake() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.open[commit] = struct{}{}
		c.start()
	}
}

// ask reports which of the transactions have committed. If the database does not answer, it
// reports false for all.
func (c *Commits) ask(ctx context.Context, due []*Commit) []bool {
	c.mu.Lock()
	var jobs, leased List[int64]
	byJob, byLease := map[int64]int{}, map[driver.Held]int{}
	seen := make([]bool, len(due))
	for i, commit := range due {
		switch {
		case commit.seen:
		case commit.job != 0:
			jobs, byJob[commit.job] = append(jobs, commit.job), i
		default:
			leased, byLease[commit.lease] = append(leased, commit.lease.ID), i
		}
	}
	c.mu.Unlock()
	if len(jobs)+len(leased) == 0 {
		return seen
	}
	held := map[driver.Held]bool{}
	err := c.db.Read(ctx, "look for commits", func(_ context.Context, db DB) error {
		if len(jobs) > 0 {
			db.QueueEach(func(row Scanner) error {
				job, err := scanNumber(row)
				if i, known := byJob[job]; known {
					seen[i] = true
				}
				return err
			}, c.sql.StoredJobs, jobs)
		}
		if len(leased) > 0 {
			db.QueueEach(func(row Scanner) error {
				var lease driver.Held
				err := row.Scan(&lease.ID, &lease.Fence)
				held[lease] = true
				return err
			}, c.sql.LeasedJobs, leased)
		}
		return nil
	})
	if err != nil {
		return make([]bool, len(due))
	}
	for lease, i := range byLease {
		seen[i] = !held[lease]
	}
	return seen
}
