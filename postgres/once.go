package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	repeated, err := s.enqueueOnce(ctx, once, jobs)
	if err != nil {
		return false, fmt.Errorf("enqueue once: %w", err)
	}
	return repeated, nil
}

func (s *Store) enqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (repeated bool, err error) {
	for {
		if repeated, err := s.repeat(ctx, once, jobs); repeated || err != nil {
			return repeated, err
		}
		if refusal := s.pending.Check(ctx, jobs); refusal != nil {
			// The same request may have been answered meanwhile, with the jobs that
			// leave no room for these.
			if repeated, err := s.repeat(ctx, once, jobs); repeated || err != nil {
				return repeated, err
			}
			return false, refusal
		}
		first, err := s.enqueueFirst(ctx, once, jobs)
		if first || err != nil {
			return false, err
		}
	}
}

// repeat gives jobs the ids of the request that was answered, if it was.
func (s *Store) repeat(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	var answered sqlstore.Answered
	found := false
	err := s.run(ctx, call{
		sql: s.sql.Answered, args: []any{once.Caller, once.Key, fairlead.OnceWindow.Microseconds()}, restart: func() { found = false },
		each: func(row sqlstore.Scanner) error {
			found = true
			return row.Scan(&answered.Request, &answered.IDs)
		},
	})
	if err != nil || !found {
		return false, err
	}
	ids, err := answered.JobIDs(once, len(jobs))
	for i, id := range ids {
		jobs[i].ID = id
	}
	return err == nil, err
}

// enqueueFirst stores jobs unless somebody else has answered the request, or is
// about to: then it has waited for that. The key of the request is locked before
// anything else, so that only one of those who send the same gets further.
func (s *Store) enqueueFirst(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (first bool, err error) {
	fresh, err := s.number(ctx, jobs)
	if err != nil {
		return false, err
	}
	begun, ids := time.Now(), slices.Clone(fresh.ids)
	err = s.inTx(sqlstore.MayWait(ctx), func(ctx context.Context, r runner) error {
		copy(fresh.ids, ids) // as they were before a try that was undone
		first, fresh.left = false, nil
		err := r.run(ctx, call{
			sql:  s.sql.Remember,
			args: []any{once.Caller, once.Key, once.Request[:], jsonText(sqlstore.EncodeIDs(ids)), fairlead.OnceWindow.Microseconds()},
			each: hits(&first),
		})
		if err != nil || !first {
			return err
		}
		if err := s.enqueueIn(ctx, r, fresh); err != nil || slices.Equal(fresh.ids, ids) {
			return err
		}
		return r.run(ctx, call{sql: s.sql.RememberJobs, args: []any{once.Caller, once.Key, jsonText(sqlstore.EncodeIDs(fresh.ids))}})
	})
	if err != nil || !first {
		return false, err
	}
	fresh.setIDs()
	s.announce(fresh, time.Since(begun))
	s.admit(ctx, append(fresh.gates(), fresh.left...))
	return true, nil
}
