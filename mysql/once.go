package mysql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// EnqueueOnce stores jobs unless the same request has done so.
func (s *Store) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	if len(jobs) == 0 {
		return false, nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if repeated, err := s.repeat(ctx, once, jobs); repeated || err != nil {
		return repeated, err
	}
	if refusal := s.pending.Check(ctx, jobs); refusal != nil {
		// The same request may have been answered meanwhile, with the jobs that leave
		// no room for these.
		if repeated, err := s.repeat(ctx, once, jobs); repeated || err != nil {
			return repeated, err
		}
		return false, fmt.Errorf("enqueue once: %w", refusal)
	}
	reserved, err := s.prepare(ctx, jobs)
	if err != nil {
		return false, err
	}
	var ids []int64
	repeated := false
	err = s.inTx(sqlstore.MayWait(ctx), "enqueue once", func(ctx context.Context, t *txn) error {
		ids = slices.Clone(reserved)
		before, err := t.enqueueOnce(ctx, once, jobs, ids)
		repeated = before
		return err
	})
	if err != nil {
		return false, err
	}
	setIDs(jobs, ids)
	return repeated, nil
}

// repeat gives jobs the ids of the request that was answered, if it was.
func (s *Store) repeat(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	var answered sqlstore.Answered
	err := one(ctx, s.db, []any{&answered.Request, &answered.IDs}, s.sql.Answered, once.Caller, once.Key, fairlead.OnceWindow.Microseconds())
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	var ids []int64
	if err == nil {
		ids, err = answered.JobIDs(once, len(jobs))
	}
	if err != nil {
		return false, fmt.Errorf("enqueue once: %w", err)
	}
	setIDs(jobs, ids)
	return true, nil
}

// enqueueOnce stores jobs under the given ids, or finds those of the same request
// and puts them there. The key of the request is locked before anything else, so
// that those who send the same wait for one another.
func (t *txn) enqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job, ids []int64) (repeated bool, err error) {
	mine := sqlstore.EncodeIDs(ids)
	if _, err := t.exec(ctx, t.sql.NoteRequest, once.Caller, once.Key, once.Request[:], mine); err != nil {
		return false, err
	}
	var answered sqlstore.Answered
	var createdAt int64
	found, err := t.one(ctx, []any{&answered.Request, &answered.IDs, &createdAt}, t.sql.LockRequest, once.Caller, once.Key)
	if err == nil && !found {
		err = fmt.Errorf("the request %q is not there though it was locked", once.Key)
	}
	if err != nil {
		return false, err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return false, err
	}
	first := bytes.Equal(answered.IDs, mine)
	if !first && createdAt > now-fairlead.OnceWindow.Microseconds() {
		before, err := answered.JobIDs(once, len(ids))
		copy(ids, before)
		return true, err
	}
	if err := t.enqueue(ctx, jobs, ids); err != nil {
		return false, err
	}
	given := sqlstore.EncodeIDs(ids)
	if first && bytes.Equal(mine, given) {
		return false, nil
	}
	// One that was forgotten is noted anew even if it kept the very jobs it had got
	// before: from now on, this is the request that must not be repeated.
	_, err = t.exec(ctx, t.sql.SetRequest, once.Request[:], given, now, once.Caller, once.Key)
	return false, err
}
