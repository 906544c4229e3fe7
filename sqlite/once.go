package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// EnqueueOnce stores jobs unless the same request has done so. Nobody can come
// in between: there is one writer at a time.
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
	var answered sqlstore.Answered
	found, err := t.one(t.sql.Answered, []any{once.Caller, once.Key, t.now - fairlead.OnceWindow.Microseconds()}, &answered.Request, &answered.IDs)
	if err != nil {
		return onceAnswer{}, err
	}
	if found {
		ids, err := answered.JobIDs(once, len(jobs))
		return onceAnswer{ids: ids, repeated: true}, err
	}
	ids, err := t.enqueueBounded(jobs) // if it refuses, it has written nothing
	if err != nil {
		return onceAnswer{}, err
	}
	err = t.must(1, t.sql.Remember, once.Caller, once.Key, once.Request[:], string(sqlstore.EncodeIDs(ids)), t.now)
	return onceAnswer{ids: ids}, err
}
