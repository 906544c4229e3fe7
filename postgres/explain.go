package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Explain says why a job does not run.
func (s *Store) Explain(ctx context.Context, id int64) (fairlead.Explanation, error) {
	job, err := s.Get(ctx, id)
	if err != nil {
		return fairlead.Explanation{}, err
	}
	facts, err := s.facts(ctx, job)
	if err != nil {
		return fairlead.Explanation{}, fmt.Errorf("explain: %w", err)
	}
	return sqlstore.Explain(facts), nil
}

// facts reads what a claim would ask.
func (s *Store) facts(ctx context.Context, job *fairlead.Job) (facts sqlstore.Facts, err error) {
	facts.Job = job
	rules, err := s.readRules(ctx)
	if err != nil {
		return facts, err
	}
	limits, err := s.Limits(ctx)
	if err != nil {
		return facts, err
	}
	facts.Rules, facts.Limits = rules.Rules, rules.Standing(limits)
	if facts.Nodes, err = s.Nodes(ctx); err != nil {
		return facts, err
	}
	if facts.Now, err = s.Now(ctx); err != nil {
		return facts, err
	}
	if facts.Starts, err = s.recentStarts(ctx); err != nil {
		return facts, err
	}
	switch job.State {
	case fairlead.Ready:
		facts.Ahead, err = s.ahead(ctx, &facts)
	case fairlead.Parked:
		facts.Gate, err = s.gateOf(ctx, job, facts.Rules.Places(job.Kind))
	}
	return facts, err
}

// ahead counts the ready jobs that go before one, up to MaxAhead.
func (s *Store) ahead(ctx context.Context, facts *sqlstore.Facts) (ahead int, err error) {
	if err := s.refreshLanes(ctx, 0); err != nil {
		return 0, err
	}
	job := facts.Job
	lanes := []int32{}
	for _, rival := range facts.Rivals(s.lanes.Known()) {
		lanes = append(lanes, rival.ID)
	}
	err = s.run(ctx, call{
		sql: s.sql.Ahead, args: []any{lanes, int16(-job.Priority), sqlstore.Micros(job.StartBy), job.ID, fairlead.MaxAhead},
		each: func(row sqlstore.Scanner) error { return row.Scan(&ahead) },
	})
	return ahead, err
}
