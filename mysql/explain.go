package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Explain says why a job does not run.
func (s *Store) Explain(ctx context.Context, id int64) (fairlead.Explanation, error) {
	job, err := s.Get(ctx, id)
	if err != nil {
		return fairlead.Explanation{}, err
	}
	if err := s.refreshLanes(ctx); err != nil {
		return fairlead.Explanation{}, err
	}
	facts := sqlstore.Facts{Job: job}
	err = s.inTx(ctx, "explain", func(ctx context.Context, t *txn) error { return t.collect(ctx, &facts) })
	if err != nil {
		return fairlead.Explanation{}, err
	}
	return sqlstore.Explain(facts), nil
}

// collect reads what a claim would ask.
func (t *txn) collect(ctx context.Context, facts *sqlstore.Facts) error {
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	facts.Now = sqlstore.Time(now)
	pauses, err := sqlstore.ReadPauses(ctx, t.db(), &t.sql.PauseStatements)
	if err != nil {
		return err
	}
	parents, err := t.parents(ctx)
	if err != nil {
		return err
	}
	quotas, err := readQuotas(ctx, t.tx, t.sql.Quotas)
	if err != nil {
		return err
	}
	const unnumbered = 0
	facts.Rules, facts.Limits = sqlstore.NewRules(unnumbered, pauses, parents, plainQuotas(quotas)), map[int32]*dispatch.Limit{}
	for _, q := range quotas {
		limit := q.limit()
		facts.Limits[q.ID] = &limit
	}
	if facts.Nodes, err = readNodes(ctx, t.tx, t.sql.Nodes); err != nil {
		return err
	}
	if facts.Starts, err = t.recentStarts(ctx, t.tx, now); err != nil {
		return err
	}
	switch facts.Job.State {
	case fairlead.Ready:
		facts.Ahead, err = t.ahead(ctx, facts)
	case fairlead.Parked:
		facts.Gate, err = t.gateOf(ctx, facts.Job, facts.Rules)
	}
	return err
}

// ahead counts the ready jobs that go before one, up to MaxAhead.
func (t *txn) ahead(ctx context.Context, facts *sqlstore.Facts) (ahead int, err error) {
	job := facts.Job
	for chunk := range slices.Chunk(facts.Rivals(t.lanes.Known()), lanesPerQuestion) {
		questions := make([]string, len(chunk))
		for i, lane := range chunk {
			questions[i] = fill(t.sql.Ahead, "lane_id", decimal(lane.ID), "turn", decimal(-job.Priority),
				"start_by", decimal(sqlstore.Micros(job.StartBy)), "id", decimal(job.ID), "limit", decimal(fairlead.MaxAhead-ahead))
		}
		err := t.each(ctx, func(row *sql.Rows) error {
			var n int
			err := row.Scan(&n)
			ahead += n
			return err
		}, strings.Join(questions, " union all "))
		if err != nil || ahead >= fairlead.MaxAhead {
			return min(ahead, fairlead.MaxAhead), err
		}
	}
	return ahead, nil
}
