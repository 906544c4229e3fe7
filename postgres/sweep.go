package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

var _ sweep.Store = (*Store)(nil)

// PutSweep creates or replaces a sweep.
func (s *Store) PutSweep(ctx context.Context, sw sweep.Sweep) (sweep.Sweep, error) {
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	row, err := sqlstore.NewSweepRow(&sweep.Record{Sweep: sw})
	if err == nil && sw.Version == 0 {
		sw.ID, err = s.addSweep(ctx, s, &sw, &row)
	} else if err == nil {
		err = s.inTx(ctx, func(ctx context.Context, r runner) error { return s.replaceSweep(ctx, r, &sw, &row) })
	}
	if nameTaken(err) {
		err = sqlstore.SweepTaken(sw.Name)
	}
	var stored []sweep.Record
	if err == nil {
		stored, err = s.Sweeps(ctx, sweep.Filter{IDs: []int64{sw.ID}})
	}
	if err == nil && len(stored) == 0 { // it was deleted meanwhile
		err = sqlstore.NoSuchSweep(sw.ID)
	}
	if err != nil {
		return sweep.Sweep{}, fmt.Errorf("put sweep: %w", err)
	}
	return stored[0].Sweep, nil
}

func (s *Store) addSweep(ctx context.Context, r runner, sweep *sweep.Sweep, row *sqlstore.SweepRow) (id int64, err error) {
	var created int64
	err = r.run(ctx, call{
		sql: s.sql.AddSweep, args: []any{sweep.Name, sweep.Tenant, string(row.State), jsonText(row.Status), jsonText(row.Body)},
		each: func(row sqlstore.Scanner) error { return row.Scan(&id, &created) },
	})
	if err == nil && id == 0 {
		err = sqlstore.SweepTaken(sweep.Name)
	}
	return id, err
}

func (s *Store) replaceSweep(ctx context.Context, r runner, sw *sweep.Sweep, row *sqlstore.SweepRow) error {
	before, err := s.lockSweep(ctx, r, sw.ID)
	if err != nil {
		return err
	}
	if before.Version != sw.Version {
		return sqlstore.SweepChanged(before.Name)
	}
	if err := sweep.CheckChange(&before, sw); err != nil {
		return err
	}
	return r.run(ctx, call{sql: s.sql.ReplaceSweep, args: []any{sw.ID, sw.Name, sw.Tenant, jsonText(row.Body)}})
}

// lockSweep lets nobody else steer a sweep.
func (s *Store) lockSweep(ctx context.Context, r runner, id int64) (sweep sweep.Record, err error) {
	found := false
	err = r.run(ctx, call{sql: s.sql.LockSweep, args: []any{id}, each: func(row sqlstore.Scanner) (err error) {
		found = true
		sweep, err = sqlstore.ScanSweep(row)
		return err
	}})
	if err == nil && !found {
		err = sqlstore.NoSuchSweep(id)
	}
	return sweep, err
}

// DeleteSweep removes a sweep with all that is known of it.
func (s *Store) DeleteSweep(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		sweep, err := s.lockSweep(ctx, r, id)
		if err != nil {
			return err
		}
		if err := sqlstore.SweepBusy(&sweep); err != nil {
			return err
		}
		return r.run(ctx, call{sql: s.sql.DeleteSweep, args: []any{id}})
	})
	if err != nil {
		return fmt.Errorf("delete sweep: %w", err)
	}
	return nil
}

// Sweeps lists sweeps, newest first.
func (s *Store) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	var sweeps []sweep.Record
	if err := s.run(ctx, s.sweepsCall(&sweeps, filter)); err != nil {
		return nil, fmt.Errorf("sweeps: %w", err)
	}
	return sweeps, nil
}

func (s *Store) sweepsCall(sweeps *[]sweep.Record, filter sweep.Filter) call {
	text, below := s.sql.SweepsOfAll, filter.Below
	switch {
	case len(filter.IDs) > 0:
		text = s.sql.SweepsByID
	case len(filter.Names) > 0:
		text = s.sql.SweepsByName
	case len(filter.States) > 0:
		text = s.sql.SweepsByState
	case len(filter.Tenants) > 0:
		text = s.sql.SweepsByTenant
	}
	if below == 0 {
		below = math.MaxInt64
	}
	states := make([]string, len(filter.States))
	for i, state := range filter.States {
		states[i] = string(state)
	}
	return call{
		sql:     text,
		args:    []any{below, sqlstore.SweepPage(filter), distinct(filter.IDs), distinct(filter.Names), distinct(states), distinct(filter.Tenants)},
		restart: func() { *sweeps = nil },
		each: func(row sqlstore.Scanner) error {
			var sums sweep.Progress
			sweep, err := sqlstore.ScanSweep(longerRow{row, []any{&sums.Total, &sums.Marked, &sums.Done, &sums.Abandoned, &sums.Again, &sums.Errors, &sums.InWindow, &sums.Rate}})
			sqlstore.SetSums(&sweep, sums)
			*sweeps = append(*sweeps, sweep)
			return err
		},
	}
}
