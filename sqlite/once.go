package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// EnqueueOnce stores jobs unless an earlier call with the same caller and key has stored its
// jobs. It returns ErrConflict if the earlier call was a different request. SQLite has a
// single writer, so no concurrent call can intervene.
func (s *Store) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	if len(jobs) == 0 {
		return false, nil
	}
	fresh := newJobs(jobs)
	answer, err := inTx(ctx, s, "enqueue once", func(t *txn) (onceAnswer, error) { return t.enqueueOnce(once, fresh) })
	if err != nil {
		return false, err
	}
	for i, id := range answer.ids {
		jobs[i].ID = id
	}
	return answer.repeated, nil
}

// onceAnswer is what became of a request that counts once.
type onceAnswer struct {
	ids      []int64
	repeated bool
}

func (t *txn) enqueueOnce(once fairlead.Once, jobs []newJob) (onceAnswer, error) {
	ids, repeated, err := t.sql.Find(t.ctx, t.db(), once, len(jobs))
	if err != nil || repeated {
		return onceAnswer{ids: ids, repeated: repeated}, err
	}
	ids, err = t.enqueueBounded(jobs) // if it refuses, it has written nothing
	if err != nil {
		return onceAnswer{}, err
	}
	return onceAnswer{ids: ids}, t.sql.NoteAnswer(t.ctx, t.db(), once, ids)
}
