package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Fair keeps what nodes have started where tenants share starts.
func (d database) Fair() *sqlstore.Fair { return d.fair }

// LimitConfig returns what is paused and limited now.
func (d database) LimitConfig(ctx context.Context) (*sqlstore.LimitConfig, error) {
	return inTx(ctx, d.Store, "read limits", (*txn).config)
}

// Ahead counts the ready jobs that go before one, up to MaxAhead.
func (d database) Ahead(ctx context.Context, facts *sqlstore.Facts) (sqlstore.JobsAhead, error) {
	return inTx(ctx, d.Store, "count jobs ahead", func(t *txn) (sqlstore.JobsAhead, error) { return t.ahead(facts) })
}

// GateOf tells how the gate of a parked job stands.
func (d database) GateOf(ctx context.Context, facts *sqlstore.Facts) (sqlstore.Gate, error) {
	return inTx(ctx, d.Store, "read the gate", func(t *txn) (sqlstore.Gate, error) { return t.gateOf(facts.Job, facts.LimitConfig) })
}

// ahead counts the ready jobs that go before one, up to MaxAhead.
func (t *txn) ahead(facts *sqlstore.Facts) (sqlstore.JobsAhead, error) {
	if err := t.refreshHeads(); err != nil {
		return nil, err
	}
	key, line, ahead := keyOf(facts.Job), sqlstore.JobsAhead{}, 0
	for _, lane := range facts.Rivals(t.lanes.Known()) {
		if head := t.laneHeads.busy[lane.ID]; head == nil || head.First().Compare(key) >= 0 {
			continue
		}
		var n int
		if _, err := t.one(t.sql.Ahead, []any{lane.ID, key.Turn, key.StartBy, key.ID, fairlead.MaxAhead - ahead}, &n); err != nil {
			return nil, err
		}
		line[lane.LaneKey] = n
		if ahead += n; ahead >= fairlead.MaxAhead {
			break
		}
	}
	return line, nil
}
