package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

const (
	retentionPage = 1000                   // finished jobs read at once
	retentionSpan = time.Second            // time limit for one Prune to start another read
	retentionSoon = 100 * time.Millisecond // a shorter walk restarts immediately
	retentionRest = 20                     // a longer walk rests for this many times its duration
)

// retentionStore removes finished jobs of kinds with different retention periods. It walks
// over the jobs of an outcome in the order of their end times, reads each of them once per
// walk, and removes those whose retention has expired. A search for the oldest jobs would
// not work: jobs with a longer retention lie among the others and would hide them.
type retentionStore struct {
	db    Database
	sql   *RetentionStatements
	clock *ClockStatements
	of    retentionSource
	walks *retentionWalks
}

// retentionSource is the part of a store that retentionStore uses in addition to its
// statements.
type retentionSource interface {
	// RemoveFinished removes the given jobs that have the outcome, ended no later than
	// last, and whose end no schedule, batch or sweep still needs to process.
	RemoveFinished(ctx context.Context, outcome int, ids []int64, last int64) (int, error)
}

// RetentionStatements holds the SQL statements of retentionStore.
type RetentionStatements struct {
	PutKindRetention     string `sql:"put_kind_retention"`
	KindRetentions       string `sql:"kind_retentions"`
	ForgetKindRetentions string `sql:"forget_kind_retentions"`
	FinishedSuccesses    string `sql:"finished_successes"`
	FinishedOthers       string `sql:"finished_others"`
}

// retentionWalks holds the progress of a process's walks, by outcome.
type retentionWalks struct {
	mu sync.Mutex
	of map[int]*retentionWalk
}

type retentionWalk struct {
	after finishedJob   // the last job read
	took  time.Duration // duration so far
	rest  time.Time     // earliest start of the next walk
}

// finishedJob is a job in the order of a walk.
type finishedJob struct {
	id, at int64
	kind   string
}

// KeepKinds stores the retention of finished jobs per kind.
func (s *retentionStore) KeepKinds(ctx context.Context, kinds map[string]driver.Retention) error {
	if len(kinds) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(kinds)) // sorted, so that all callers lock the rows in the same order
	kept := maps.Clone(kinds)
	return s.db.InTx(ctx, "keep kinds", func(_ context.Context, db DB) error {
		for _, kind := range names {
			own := kept[kind]
			db.Queue(s.sql.PutKindRetention, kind, own.Succeeded.Microseconds(), own.Failed.Microseconds(), own.Cancelled.Microseconds(), own.Skipped.Microseconds())
		}
		db.Queue(s.sql.ForgetKindRetentions, driver.KindRetentionMemory.Microseconds())
		return nil
	})
}

// Keeping reads the retention of kinds and combines it with the general retention keep.
func (s *retentionStore) Keeping(ctx context.Context, keep driver.Retention) (*Keeping, error) {
	type kindRetention struct {
		kind string
		own  driver.Retention
	}
	found, err := readList(ctx, s.db.ReadAll, "read retention of kinds", func(row Scanner) (k kindRetention, err error) {
		var succeeded, failed, cancelled, skipped int64
		err = row.Scan(&k.kind, &succeeded, &failed, &cancelled, &skipped)
		k.own = driver.Retention{Succeeded: micros(succeeded), Failed: micros(failed), Cancelled: micros(cancelled), Skipped: micros(skipped)}
		return k, err
	}, s.sql.KindRetentions, driver.KindRetentionMemory.Microseconds())
	if err != nil {
		return nil, err
	}
	keeping := &Keeping{keep: keep, kinds: map[string]driver.Retention{}}
	for _, k := range found {
		keeping.kinds[k.kind] = k.own
	}
	return keeping, nil
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// PruneVaried continues the walk over the jobs of an outcome and removes at most limit jobs
// whose retention has expired.
func (s *retentionStore) PruneVaried(ctx context.Context, keeping *Keeping, kept Kept, limit int) (int, error) {
	s.walks.mu.Lock()
	defer s.walks.mu.Unlock()
	walk := s.walks.of[kept.Outcome]
	if walk == nil {
		walk = &retentionWalk{}
		s.walks.of[kept.Outcome] = walk
	}
	begin := time.Now()
	if begin.Before(walk.rest) {
		return 0, nil
	}
	removed, ended := 0, false
	for !ended && removed < limit && time.Since(begin) < retentionSpan {
		n, end, err := s.step(ctx, walk, keeping, kept, limit-removed)
		removed, ended = removed+n, end
		if err != nil {
			return removed, fmt.Errorf("prune by kind: %w", err)
		}
	}
	walk.took += time.Since(begin)
	if ended {
		took := walk.took
		*walk = retentionWalk{}
		if took > retentionSoon {
			walk.rest = time.Now().Add(retentionRest * took)
		}
	}
	return removed, nil
}

// step reads the next jobs of a walk and removes at most limit of them. It reports whether
// they were the last.
func (s *retentionStore) step(ctx context.Context, walk *retentionWalk, keeping *Keeping, kept Kept, limit int) (removed int, ended bool, err error) {
	page, now, err := s.read(ctx, kept, walk.after)
	if err != nil {
		return 0, false, err
	}
	var doomed []int64
	last, reached, ended := int64(0), walk.after, len(page) < retentionPage
	for _, job := range page {
		if len(doomed) == limit {
			ended = false
			break
		}
		if reached = job; keeping.over(kept.Outcome, job.kind, micros(now-job.at)) {
			doomed, last = append(doomed, job.id), job.at
		}
	}
	if len(doomed) > 0 {
		if removed, err = s.of.RemoveFinished(ctx, kept.Outcome, doomed, last); err != nil {
			return removed, false, err
		}
	}
	walk.after = reached
	return removed, ended, nil
}

// read returns the next jobs of an outcome after a given one that may be old enough to
// remove.
func (s *retentionStore) read(ctx context.Context, kept Kept, after finishedJob) (page []finishedJob, now int64, err error) {
	type answer struct {
		page []finishedJob
		now  int64
	}
	var found answer
	err = s.db.ReadAll(ctx, "read finished jobs", func(ctx context.Context, db DB) error {
		now, err := s.clock.Clock(ctx, db)
		if err != nil {
			return err
		}
		statement, args := s.sql.FinishedSuccesses, []any{now - kept.For.Microseconds(), after.at, after.at, after.id, retentionPage}
		if kept.Outcome != OutcomeSucceeded {
			statement, args = s.sql.FinishedOthers, append([]any{kept.Outcome}, args...)
		}
		page, err := list(ctx, db, func(row Scanner) (job finishedJob, err error) {
			err = row.Scan(&job.id, &job.at, &job.kind)
			return job, err
		}, statement, args...)
		found = answer{page, now}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return found.page, found.now, nil
}
