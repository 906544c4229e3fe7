package sqlite

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Get returns a job. It returns ErrNotFound if the job does not exist.
func (s *Store) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	jobs, err := s.Find(ctx, oneJob(id))
	if err != nil {
		return nil, fmt.Errorf("get job %d: %w", id, err)
	}
	if len(jobs) == 0 {
		return nil, driver.NoSuchJob(id)
	}
	return jobs[0], nil
}

// oneJob chooses one job. Its statement is always the same, and prepared.
func oneJob(id int64) fairlead.Filter { return fairlead.Filter{IDs: []int64{id}, Limit: 1} }

// Find returns the matching jobs, newest first.
func (s *Store) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return sqlstore.FindAll(ctx, filter, s.FindPage)
}

// FindPage returns a page of the matching jobs, newest first.
func (s *Store) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	return read(ctx, s, "find jobs", func(t *txn) (fairlead.Page, error) {
		if err := t.catchUp(filter); err != nil {
			return fairlead.Page{}, err
		}
		found, err := s.query.Page(ctx, t.ask, filter)
		if err != nil {
			return fairlead.Page{}, err
		}
		for job, lane := range found.Unnamed {
			key, err := t.laneNamed(lane)
			if err != nil {
				return fairlead.Page{}, err
			}
			job.Queue, job.Tenant, job.Kind = key.Queue, key.Tenant, key.Kind
		}
		return found.Page, nil
	})
}

// ask is a sqlstore.Ask.
func (t *txn) ask(_ context.Context, query string, args []any, scan func(sqlstore.Scanner) error) error {
	return t.each(query, args, scan)
}

// Tally counts the matching jobs by state.
func (s *Store) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	count, err := s.TallyUpTo(ctx, filter, 0)
	return count.States, err
}

// TallyUpTo counts the matching jobs by state. It stops counting after about atMost jobs; 0
// means that it counts all of them.
func (s *Store) TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	return read(ctx, s, "count jobs", func(t *txn) (fairlead.Count, error) {
		if err := t.catchUp(filter); err != nil {
			return fairlead.Count{}, err
		}
		return s.query.Count(ctx, t.ask, filter, atMost)
	})
}

// Attempts lists the recorded attempts of a job, oldest first.
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
