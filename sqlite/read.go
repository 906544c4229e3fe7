package sqlite

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Get returns a job.
func (s *Store) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	jobs, err := s.Find(ctx, oneJob(id))
	if err != nil {
		return nil, fmt.Errorf("get job %d: %w", id, err)
	}
	if len(jobs) == 0 {
		return nil, fairlead.NoSuchJob(id)
	}
	return jobs[0], nil
}

// oneJob chooses one job. Its statement is always the same, and prepared.
func oneJob(id int64) fairlead.Filter { return fairlead.Filter{IDs: []int64{id}, Limit: 1} }

// Find returns the jobs that match.
func (s *Store) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return read(ctx, s, "find jobs", func(t *txn) ([]*fairlead.Job, error) {
		if err := t.catchUp(filter); err != nil {
			return nil, err
		}
		query, args := s.query.Find(filter)
		if query == "" {
			return nil, nil
		}
		var jobs []*fairlead.Job
		unnamed := map[*fairlead.Job]int32{}
		err := t.each(query, args, func(row sqlstore.Scanner) error {
			job, lane, err := s.query.ScanJob(row)
			if err != nil {
				return err
			}
			if job.Kind == "" {
				unnamed[job] = lane
			}
			jobs = append(jobs, job)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for job, lane := range unnamed {
			key, err := t.laneNamed(lane)
			if err != nil {
				return nil, err
			}
			job.Queue, job.Tenant, job.Kind = key.Queue, key.Tenant, key.Kind
		}
		return jobs, nil
	})
}

// Tally counts the jobs that match.
func (s *Store) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	return read(ctx, s, "tally jobs", func(t *txn) (map[fairlead.State]int64, error) {
		tally := map[fairlead.State]int64{}
		if err := t.catchUp(filter); err != nil {
			return nil, err
		}
		query, args := s.query.Tally(filter)
		if query == "" {
			return tally, nil
		}
		err := t.each(query, args, func(row sqlstore.Scanner) error {
			var state fairlead.State
			var n int64
			if err := row.Scan(&state, &n); err != nil {
				return err
			}
			tally[state] = n
			return nil
		})
		return tally, err
	})
}

// Attempts lists the recorded runs of a job.
func (s *Store) Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error) {
	return read(ctx, s, "list attempts", func(t *txn) ([]fairlead.Attempt, error) {
		var attempts []fairlead.Attempt
		err := t.each(t.sql.Attempts, []any{id}, func(row sqlstore.Scanner) error {
			var a fairlead.Attempt
			var started, finished int64
			if err := row.Scan(&a.Run, &a.Fence, &a.Node, &started, &finished, &a.Reason, &a.Error); err != nil {
				return err
			}
			a.StartedAt, a.FinishedAt = sqlstore.Time(started), sqlstore.Time(finished)
			attempts = append(attempts, a)
			return nil
		})
		return attempts, err
	})
}
