package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Get returns the job with the given ID. It returns ErrNotFound if the job does not exist.
func (s *Store) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	jobs, err := s.find(ctx, "get", fairlead.Filter{IDs: []int64{id}, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, driver.NoSuchJob(id)
	}
	return jobs[0], nil
}

// Find returns the matching jobs, newest first.
func (s *Store) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return s.find(ctx, "find", filter)
}

func (s *Store) find(ctx context.Context, verb string, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return sqlstore.FindAll(ctx, filter, func(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
		return s.findPage(ctx, verb, filter)
	})
}

// FindPage returns one page of the matching jobs, newest first.
func (s *Store) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	return s.findPage(ctx, "find", filter)
}

func (s *Store) findPage(ctx context.Context, verb string, filter fairlead.Filter) (fairlead.Page, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.knowLanes(ctx, filter); err != nil {
		return fairlead.Page{}, fmt.Errorf("%s: %w", verb, err)
	}
	found, err := s.query.Page(ctx, s.ask, filter)
	if err != nil {
		return fairlead.Page{}, fmt.Errorf("%s: %w", verb, err)
	}
	for job, lane := range found.Unnamed {
		key, err := s.laneKey(ctx, lane)
		if err != nil {
			return fairlead.Page{}, fmt.Errorf("%s: %w", verb, err)
		}
		job.Queue, job.Tenant, job.Kind = key.Queue, key.Tenant, key.Kind
	}
	return found.Page, nil
}

// ask is a sqlstore.Ask.
func (s *Store) ask(ctx context.Context, statement string, args []any, scan func(sqlstore.Scanner) error) error {
	return each(ctx, s.db, func(row *sql.Rows) error { return scan(row) }, statement, args...)
}

// knowLanes makes sure that the cache has all lanes that a filter may choose.
func (s *Store) knowLanes(ctx context.Context, filter fairlead.Filter) error {
	if len(filter.Kinds) == 0 && len(filter.Queues) == 0 && len(filter.Tenants) == 0 {
		return nil
	}
	return s.refreshLanes(ctx)
}

// Tally counts the matching jobs by state.
func (s *Store) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	count, err := s.TallyUpTo(ctx, filter, 0)
	return count.States, err
}

// TallyUpTo counts the matching jobs by state and stops after about atMost jobs.
func (s *Store) TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.knowLanes(ctx, filter); err != nil {
		return fairlead.Count{}, fmt.Errorf("count: %w", err)
	}
	count, err := s.query.Count(ctx, s.ask, filter, atMost)
	if err != nil {
		return fairlead.Count{}, fmt.Errorf("count: %w", err)
	}
	return count, nil
}

// Attempts lists a job's recorded attempts, oldest first.
func (s *Store) Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var attempts []fairlead.Attempt
	err := each(ctx, s.db, func(row *sql.Rows) error {
		var a fairlead.Attempt
		var started, finished int64
		if err := row.Scan(&a.Run, &a.Fence, &a.Node, &started, &finished, &a.Reason, &a.Error); err != nil {
			return err
		}
		a.StartedAt, a.FinishedAt = sqlstore.Time(started), sqlstore.Time(finished)
		attempts = append(attempts, a)
		return nil
	}, s.sql.Attempts, id)
	if err != nil {
		return nil, fmt.Errorf("attempts: %w", err)
	}
	return attempts, nil
}

// Nodes lists the live nodes and the dead nodes that are still on record.
func (s *Store) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	nodes, err := readNodes(ctx, s.db, s.sql.Nodes)
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	return nodes, nil
}

func readNodes(ctx context.Context, q querier, statement string) (nodes []fairlead.Node, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		node, err := sqlstore.ScanNode(row)
		nodes = append(nodes, node)
		return err
	}, statement)
	return nodes, err
}
