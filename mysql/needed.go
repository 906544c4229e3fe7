package mysql

import (
	"context"
	"database/sql"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// lockOutdated locks finished jobs that ended before a time, at most limit of them,
// earliest first, and returns those that none has still to see. It goes on behind
// tasks that are not counted, so that these keep no other from being found.
func (t *txn) lockOutdated(ctx context.Context, outcome int, before int64, limit int) (outdated []int64, err error) {
	var at, id int64 // of the last one
	for len(outdated) < limit {
		var page []int64
		err := t.each(ctx, func(row *sql.Rows) error {
			err := row.Scan(&id, &at)
			page = append(page, id)
			return err
		}, t.sql.LockOutdated, outcome, before, at, at, id, limit)
		if err != nil {
			return nil, err
		}
		// What is finished was stored together with its part being out: a later look
		// finds that, unless the task was counted.
		uncounted, err := t.uncounted(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, id := range page {
			if uncounted[id] == 0 {
				outdated = append(outdated, id)
			}
		}
		if len(page) < limit {
			break
		}
	}
	return outdated[:min(len(outdated), limit)], nil
}

// uncounted tells which of some jobs are tasks that are out, and of which batches.
func (t *txn) uncounted(ctx context.Context, jobs []int64) (map[int64]int64, error) {
	batches := map[int64]int64{}
	if len(jobs) == 0 {
		return batches, nil
	}
	first, last := slices.Min(jobs)-fairlead.PartSize+1, slices.Max(jobs)
	err := t.each(ctx, func(row *sql.Rows) error {
		p, err := sqlstore.ScanPart(row, false)
		if err != nil {
			return err
		}
		for i, mark := range p.States {
			if mark == fairlead.MarkOut {
				batches[p.First+int64(i)] = p.Batch
			}
		}
		return nil
	}, t.sql.OutParts, first, last)
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
