package mysql

import (
	"context"
	"database/sql"
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// outdatedWalk bounds how many finished jobs one removing transaction reads, and so
// locks.
const outdatedWalk = 10 * keepChunk

// outdatedCursor is how far the jobs of an outcome were read, in their order. The
// uncounted tasks of a large open batch may be more than one transaction can step over;
// the next one continues behind them.
type outdatedCursor struct{ at, id int64 }

// outdatedCursors holds the cursors of the outcomes.
type outdatedCursors struct {
	mu sync.Mutex
	of map[int]outdatedCursor
}

func (c *outdatedCursors) get(outcome int) outdatedCursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[outcome]
}

func (c *outdatedCursors) set(outcome int, cursor outdatedCursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[int]outdatedCursor{}
	}
	c.of[outcome] = cursor
}

// lockOutdated locks finished jobs that ended before a time, earliest first from a
// cursor on. It returns at most limit of those that no batch has still to count. It
// continues behind uncounted tasks, so that these do not hide other jobs, but reads no
// more than outdatedWalk. next is where the next call begins: at the beginning, unless
// there is more than this call could step over.
func (t *txn) lockOutdated(ctx context.Context, outcome int, before int64, limit int, from outdatedCursor) (outdated []int64, next outdatedCursor, err error) {
	last := from
	for seen := 0; ; {
		page, err := t.outdatedPage(ctx, outcome, before, last)
		if err != nil {
			return nil, from, err
		}
		// A job's end was stored after its chunk was marked out: a later read finds the
		// mark, unless the task was counted.
		uncounted, err := t.uncounted(ctx, ids(page))
		if err != nil {
			return nil, from, err
		}
		for _, job := range page {
			if uncounted[job.id] == 0 {
				outdated = append(outdated, job.id)
			}
			if last = job; len(outdated) == limit {
				break
			}
		}
		seen += len(page)
		switch {
		case len(outdated) == limit && from == outdatedCursor{}, len(outdated) < limit && len(page) < keepChunk:
			return outdated, outdatedCursor{}, nil
		case len(outdated) == limit, seen >= outdatedWalk:
			return outdated, last, nil
		}
	}
}

// outdatedPage locks the finished jobs that follow a cursor.
func (t *txn) outdatedPage(ctx context.Context, outcome int, before int64, after outdatedCursor) (page []outdatedCursor, err error) {
	err = t.each(ctx, func(row *sql.Rows) error {
		var job outdatedCursor
		err := row.Scan(&job.id, &job.at)
		page = append(page, job)
		return err
	}, t.sql.LockOutdated, outcome, before, after.at, after.at, after.id, keepChunk)
	return page, err
}

func ids(page []outdatedCursor) []int64 {
	list := make([]int64, len(page))
	for i, job := range page {
		list[i] = job.id
	}
	return list
}

// uncounted returns which of the jobs are tasks that are out, with their batches.
func (t *txn) uncounted(ctx context.Context, jobs []int64) (map[int64]int64, error) {
	batches := map[int64]int64{}
	if len(jobs) == 0 {
		return batches, nil
	}
	first, last := slices.Min(jobs)-batch.ChunkSize+1, slices.Max(jobs)
	err := t.each(ctx, func(row *sql.Rows) error {
		p, err := sqlstore.ScanChunk(row)
		if err != nil {
			return err
		}
		for i, mark := range p.States {
			if mark == batch.MarkOut {
				batches[p.First+int64(i)] = p.Batch
			}
		}
		return nil
	}, t.sql.OutChunks, first, last)
	return batches, err
}

// needed returns an ErrConflict if a batch or a sweep has still to see how a job ends.
func (t *txn) needed(ctx context.Context, id int64) error {
	batches, err := t.uncounted(ctx, []int64{id})
	if err != nil {
		return err
	}
	var sweep sql.NullInt64
	if _, err := t.one(ctx, []any{&sweep}, t.sql.SweepOf, id); err != nil {
		return err
	}
	return sqlstore.Needed(id, batches[id], sweep.Int64)
}
