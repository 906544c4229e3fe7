package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Explain says why a job does not run.
func (s *Store) Explain(ctx context.Context, id int64) (fairlead.Explanation, error) {
	job, err := s.Get(ctx, id)
	if err != nil {
		return fairlead.Explanation{}, err
	}
	return inTx(ctx, s, "explain", func(t *txn) (fairlead.Explanation, error) { return t.explain(job) })
}

func (t *txn) explain(job *fairlead.Job) (fairlead.Explanation, error) {
	nodes, err := t.allNodes()
	if err != nil {
		return fairlead.Explanation{}, err
	}
	rules, err := t.rules()
	if err != nil {
		return fairlead.Explanation{}, err
	}
	limits, err := t.limits()
	if err != nil {
		return fairlead.Explanation{}, err
	}
	facts := sqlstore.Facts{Now: sqlstore.Time(t.now), Job: job, Rules: rules, Limits: limits, Nodes: nodes}
	if facts.Starts, err = t.recentStarts(); err != nil {
		return fairlead.Explanation{}, err
	}
	switch job.State {
	case fairlead.Ready:
		facts.Ahead, err = t.ahead(&facts)
	case fairlead.Parked:
		facts.Gate, err = t.gateOf(job, rules)
	}
	if err != nil {
		return fairlead.Explanation{}, err
	}
	return sqlstore.Explain(facts), nil
}

// ahead counts the ready jobs that go before one, up to MaxAhead.
func (t *txn) ahead(facts *sqlstore.Facts) (ahead int, err error) {
	if err := t.refreshHeads(); err != nil {
		return 0, err
	}
	key := keyOf(facts.Job)
	for _, lane := range facts.Rivals(t.lanes.Known()) {
		if head := t.laneHeads.busy[lane.ID]; head == nil || head.First().Compare(key) >= 0 {
			continue
		}
		var n int
		if _, err := t.one(t.sql.Ahead, []any{lane.ID, key.Turn, key.StartBy, key.ID, fairlead.MaxAhead - ahead}, &n); err != nil {
			return 0, err
		}
		if ahead += n; ahead >= fairlead.MaxAhead {
			break
		}
	}
	return ahead, nil
}
