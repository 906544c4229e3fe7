package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Fair keeps what nodes have started where tenants share starts.
func (d database) Fair() *sqlstore.Fair { return d.fair }

// LimitConfig returns what is paused and limited now: as last read, if the version says so.
func (d database) LimitConfig(ctx context.Context) (*sqlstore.LimitConfig, error) {
	if known := d.limitCache.current.Load(); known != nil {
		version := int64(0)
		err := d.run(ctx, call{sql: d.sql.LimitsVersion, each: func(row sqlstore.Scanner) error { return row.Scan(&version) }})
		if err != nil || version == known.Version {
			return known.LimitConfig, err
		}
	}
	config, err := d.readLimits(ctx)
	if err != nil {
		return nil, err
	}
	return config.LimitConfig, nil
}

// Ahead counts the ready jobs that go before one, up to MaxAhead.
func (d database) Ahead(ctx context.Context, facts *sqlstore.Facts) (sqlstore.JobsAhead, error) {
	if err := d.refreshLanes(ctx, 0); err != nil {
		return nil, err
	}
	job := facts.Job
	lanes, keys, line := []int32{}, map[int32]sqlstore.LaneKey{}, sqlstore.JobsAhead{}
	for _, rival := range facts.Rivals(d.lanes.Known()) {
		lanes, keys[rival.ID] = append(lanes, rival.ID), rival.LaneKey
	}
	err := d.run(ctx, call{
		sql: d.sql.Ahead, args: []any{lanes, int16(-job.Priority), sqlstore.Micros(job.StartBy), job.ID, fairlead.MaxAhead},
		each: func(row sqlstore.Scanner) error {
			var lane int32
			var n int
			err := row.Scan(&lane, &n)
			line[keys[lane]] = n
			return err
		},
	})
	return line, err
}

// GateOf tells how the gate of a parked job stands.
func (d database) GateOf(ctx context.Context, facts *sqlstore.Facts) (sqlstore.Gate, error) {
	return d.gateOf(ctx, facts.Job, facts.LimitConfig.Places(facts.Job.Kind))
}
