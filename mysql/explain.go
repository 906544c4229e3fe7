package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Fair keeps what nodes have started where tenants share starts.
func (d database) Fair() *sqlstore.Fair { return d.fair }

// LimitConfig returns what is paused and limited now: as last read, if the version says so.
func (d database) LimitConfig(ctx context.Context) (*sqlstore.LimitConfig, error) {
	var current *limitConfig // of the version that is locked
	err := d.inTx(ctx, "read limits", func(ctx context.Context, t *txn) error {
		var version int64
		if _, err := t.one(ctx, []any{&version}, t.sql.ShareLimits); err != nil {
			return err
		}
		var err error
		current, err = t.limitsOfVersion(ctx, version)
		return err
	})
	if err != nil {
		return nil, err
	}
	return current.LimitConfig, nil
}

// Ahead counts the ready jobs that go before one, up to MaxAhead.
func (d database) Ahead(ctx context.Context, facts *sqlstore.Facts) (line sqlstore.JobsAhead, err error) {
	if err := d.refreshLanes(ctx); err != nil {
		return nil, err
	}
	err = d.inTx(ctx, "count jobs ahead", func(ctx context.Context, t *txn) error {
		line, err = t.ahead(ctx, facts)
		return err
	})
	return line, err
}

// GateOf tells how the gate of a parked job stands.
func (d database) GateOf(ctx context.Context, facts *sqlstore.Facts) (gate sqlstore.Gate, err error) {
	err = d.inTx(ctx, "read the gate", func(ctx context.Context, t *txn) error {
		gate, err = t.gateOf(ctx, facts.Job, facts.LimitConfig)
		return err
	})
	return gate, err
}

// ahead counts the ready jobs that go before one, up to MaxAhead.
func (t *txn) ahead(ctx context.Context, facts *sqlstore.Facts) (sqlstore.JobsAhead, error) {
	job, line, ahead := facts.Job, sqlstore.JobsAhead{}, 0
	for chunk := range slices.Chunk(facts.Rivals(t.lanes.Known()), lanesPerQuestion) {
		questions, keys := make([]string, len(chunk)), make(map[int32]sqlstore.LaneKey, len(chunk))
		for i, lane := range chunk {
			keys[lane.ID] = lane.LaneKey
			questions[i] = fill(t.sql.Ahead, "lane_id", decimal(lane.ID), "turn", decimal(-job.Priority),
				"start_by", decimal(sqlstore.Micros(job.StartBy)), "id", decimal(job.ID), "limit", decimal(fairlead.MaxAhead-ahead))
		}
		err := t.each(ctx, func(row *sql.Rows) error {
			var lane int32
			var n int
			err := row.Scan(&lane, &n)
			line[keys[lane]] = n
			ahead += n
			return err
		}, strings.Join(questions, " union all "))
		if err != nil || ahead >= fairlead.MaxAhead {
			return line, err
		}
	}
	return line, nil
}
