package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Get returns a job. It returns ErrNotFound if the job does not exist.
func (s *Store) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	jobs, err := s.find(ctx, fairlead.Filter{IDs: []int64{id}, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	if len(jobs) == 0 {
		return nil, driver.NoSuchJob(id)
	}
	return jobs[0], nil
}

// Find returns the matching jobs, newest first.
func (s *Store) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	if err := s.knowLanes(ctx, filter); err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	jobs, err := s.find(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	return jobs, nil
}

func (s *Store) find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return sqlstore.FindAll(ctx, filter, s.findPage)
}

// FindPage returns a page of the matching jobs, newest first.
func (s *Store) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	if err := s.knowLanes(ctx, filter); err != nil {
		return fairlead.Page{}, fmt.Errorf("find: %w", err)
	}
	page, err := s.findPage(ctx, filter)
	if err != nil {
		return fairlead.Page{}, fmt.Errorf("find: %w", err)
	}
	return page, nil
}

func (s *Store) findPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	found, err := s.query.Page(ctx, s.ask, filter)
	if err != nil || len(found.Unnamed) == 0 {
		return found.Page, err
	}
	return found.Page, s.nameJobs(ctx, found.Unnamed)
}

// ask is a sqlstore.Ask.
func (s *Store) ask(ctx context.Context, statement string, args []any, each func(sqlstore.Scanner) error) error {
	return s.run(ctx, call{sql: statement, args: args, each: each})
}

// laneKey names a lane that has jobs.
func (s *Store) laneKey(ctx context.Context, id int32) (sqlstore.LaneKey, error) {
	if key, known := s.lanes.Key(id); known {
		return key, nil
	}
	job := &fairlead.Job{}
	err := s.nameJobs(ctx, map[*fairlead.Job]int32{job: id})
	return sqlstore.LaneKey{Queue: job.Queue, Tenant: job.Tenant, Kind: job.Kind}, err
}

// nameJobs looks lanes up that were not known. One that is older than all that are new
// was forgotten: then the whole table is read.
func (s *Store) nameJobs(ctx context.Context, unnamed map[*fairlead.Job]int32) error {
	for range 2 {
		if err := s.refreshLanes(ctx, 0); err != nil {
			return err
		}
		for job, lane := range unnamed {
			if names, known := s.lanes.Key(lane); known {
				job.Queue, job.Tenant, job.Kind = names.Queue, names.Tenant, names.Kind
				delete(unnamed, job)
			}
		}
		if len(unnamed) == 0 {
			return nil
		}
		s.lanes.anew.Store(true)
	}
	return nil
}

// knowLanes makes sure that a filter by names misses no lane that another process
// created.
func (s *Store) knowLanes(ctx context.Context, filter fairlead.Filter) error {
	if filter.Kinds == nil && filter.Queues == nil && filter.Tenants == nil {
		return nil
	}
	return s.refreshLanes(ctx, 0)
}

// Tally counts the matching jobs by state.
func (s *Store) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	count, err := s.TallyUpTo(ctx, filter, 0)
	return count.States, err
}

// TallyUpTo counts the matching jobs by state. It stops counting at about atMost jobs.
func (s *Store) TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	if err := s.knowLanes(ctx, filter); err != nil {
		return fairlead.Count{}, fmt.Errorf("count: %w", err)
	}
	count, err := s.query.Count(ctx, s.ask, filter, atMost)
	if err != nil {
		return fairlead.Count{}, fmt.Errorf("count: %w", err)
	}
	return count, nil
}

// Attempts returns a job's recorded attempts, oldest first.
func (s *Store) Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error) {
	var attempts []fairlead.Attempt
	err := s.run(ctx, call{sql: s.sql.Attempts, args: []any{id}, each: func(row sqlstore.Scanner) error {
		var a fairlead.Attempt
		var started, finished int64
		err := row.Scan(&a.Run, &a.Fence, &a.Node, &started, &finished, &a.Reason, &a.Error)
		a.StartedAt, a.FinishedAt = sqlstore.Time(started), sqlstore.Time(finished)
		attempts = append(attempts, a)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("attempts: %w", err)
	}
	return attempts, nil
}

// Nodes returns the live nodes, and the dead nodes that are still on record.
func (s *Store) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	var nodes []fairlead.Node
	if err := s.runPlain(ctx, nodesCall(&s.sql, &nodes)); err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	return nodes, nil
}

// nodesCall reads all nodes.
func nodesCall(sql *statements, nodes *[]fairlead.Node) call {
	return call{sql: sql.Nodes, restart: func() { *nodes = nil }, each: func(row sqlstore.Scanner) error {
		node, err := sqlstore.ScanNode(row)
		*nodes = append(*nodes, node)
		return err
	}}
}
