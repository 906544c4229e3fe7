package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Get returns the job.
func (s *Store) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	jobs, err := s.find(ctx, "get", fairlead.Filter{IDs: []int64{id}, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fairlead.NoSuchJob(id)
	}
	return jobs[0], nil
}

// Find returns the jobs that match.
func (s *Store) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return s.find(ctx, "find", filter)
}

func (s *Store) find(ctx context.Context, verb string, filter fairlead.Filter) ([]*fairlead.Job, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	if err := s.knowLanes(ctx, filter); err != nil {
		return nil, fmt.Errorf("%s: %w", verb, err)
	}
	statement, args := s.query.Find(filter)
	if statement == "" {
		return nil, nil
	}
	var jobs []*fairlead.Job
	unknown := map[*fairlead.Job]int32{} // lanes that the cache did not have
	err := each(ctx, s.db, func(row *sql.Rows) error {
		job, lane, err := s.query.ScanJob(row)
		if err != nil {
			return err
		}
		if job.Kind == "" {
			unknown[job] = lane
		}
		jobs = append(jobs, job)
		return nil
	}, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", verb, err)
	}
	for job, lane := range unknown {
		key, err := s.laneKey(ctx, lane)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", verb, err)
		}
		job.Queue, job.Tenant, job.Kind = key.Queue, key.Tenant, key.Kind
	}
	return jobs, nil
}

// knowLanes makes sure that the cache has all lanes that a filter may choose.
func (s *Store) knowLanes(ctx context.Context, filter fairlead.Filter) error {
	if len(filter.Kinds) == 0 && len(filter.Queues) == 0 && len(filter.Tenants) == 0 {
		return nil
	}
	return s.refreshLanes(ctx)
}

// Tally counts the jobs that match by state.
func (s *Store) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	if err := s.knowLanes(ctx, filter); err != nil {
		return nil, fmt.Errorf("tally: %w", err)
	}
	tally := map[fairlead.State]int64{}
	statement, args := s.query.Tally(filter)
	if statement == "" {
		return tally, nil
	}
	err := each(ctx, s.db, func(row *sql.Rows) error {
		var state fairlead.State
		var n int64
		if err := row.Scan(&state, &n); err != nil {
			return err
		}
		tally[state] = n
		return nil
	}, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("tally: %w", err)
	}
	return tally, nil
}

// Attempts lists the recorded runs of a job.
func (s *Store) Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error) {
	ctx, cancel := s.bound(ctx)
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

// Nodes lists the nodes that are alive and those not yet forgotten.
func (s *Store) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	ctx, cancel := s.bound(ctx)
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
