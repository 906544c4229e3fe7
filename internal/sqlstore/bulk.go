package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// bulkStore stores bulks and applies their actions to jobs.
type bulkStore struct {
	db     Database
	acting Acting
	sql    *BulkStatements
	audit  *AuditStatements
	once   *OnceStatements
}

// BulkStatements holds the SQL statements of bulkStore.
type BulkStatements struct {
	AddBulk     string `sql:"add_bulk"`
	Bulks       string `sql:"bulks"`
	LockBulk    string `sql:"lock_bulk"`
	AdvanceBulk string `sql:"advance_bulk"`
	AddMisses   string `sql:"add_misses"`
	BulkMisses  string `sql:"bulk_misses"`
	StopBulk    string `sql:"stop_bulk"`
	LatestIDs   string `sql:"latest_ids"`
	OldBulks    string `sql:"old_bulks"`
	LoneBulks   string `sql:"lone_bulks"`
	DropMisses  string `sql:"drop_misses"`
	DropBulk    string `sql:"drop_bulk"`
}

// AddBulk stores a bulk and the job that executes it.
func (s *bulkStore) AddBulk(ctx context.Context, once *fairlead.Once, b bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	var stored []bulk.Bulk
	var before []int64 // IDs stored by an earlier attempt of the same request
	add := func(ctx context.Context, tx JobTx) (err error) {
		if b.Newest, err = s.newest(ctx, tx); err != nil {
			return err
		}
		body, err := encodeBulk(&b)
		if err != nil {
			return err
		}
		own := *job // copied on every attempt of the transaction
		if err := tx.Enqueue(ctx, []*fairlead.Job{&own}); err != nil {
			return err
		}
		if once != nil {
			var repeated bool
			if before, repeated, err = s.once.NoteFirst(ctx, tx, *once, []int64{own.ID}); err == nil && repeated {
				err = errRepeated
			}
			if err != nil {
				return err
			}
		}
		tx.Queue(s.sql.AddBulk, own.ID, b.Matched, b.More, JSON(body))
		stored, err = list(ctx, tx, scanBulk, s.sql.Bulks, own.ID, own.ID, 1)
		return err
	}
	switch _, err := s.acting.Act(MayWait(ctx), "add bulk", Subject{"bulk", 0}, true, add); {
	case errors.Is(err, errRepeated):
		return s.one(ctx, "add bulk", before[0])
	case err != nil:
		return bulk.Bulk{}, err
	}
	return stored[0], nil
}

// errRepeated rolls back a request that was already answered.
var errRepeated = errors.New("an earlier request with the same ID has already been carried out")

// latestIDs is the approximate number of latest job IDs to examine when a bulk is created.
// It covers the ID blocks that processes may still be using.
const latestIDs = 20_000

// newest returns bulk.Status.Newest for a bulk created now. If none of the jobs with the
// latest IDs is dated now or later, a job with one of these IDs that is found with a later
// date must have been created after the bulk. Otherwise the clock was set back; newest then
// returns the last ID, so that no job that already has an ID is taken for one created after
// the bulk.
func (s *bulkStore) newest(ctx context.Context, db DB) (int64, error) {
	looks, err := list(ctx, db, func(row Scanner) (look struct{ last, dated int64 }, err error) {
		err = row.Scan(&look.last, &look.dated)
		return look, err
	}, s.sql.LatestIDs, latestIDs)
	if err != nil || len(looks) == 0 {
		return 0, err
	}
	if look := looks[0]; look.dated > 0 {
		return look.last, nil
	}
	return max(0, looks[0].last-latestIDs), nil
}

// StopBulk requests that a bulk stop.
func (s *bulkStore) StopBulk(ctx context.Context, id int64) error {
	b, err := s.one(ctx, "stop bulk", id)
	if err != nil {
		return err
	}
	hit := int64(0)
	if !b.State.Final() {
		hit, err = exec(ctx, s.db, "stop bulk", s.sql.StopBulk, id)
	}
	if err == nil && hit == 0 {
		err = fmt.Errorf("stop bulk action: bulk action %d has ended: %w", id, fairlead.ErrConflict)
	}
	return err
}
