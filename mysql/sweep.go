package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

var _ sweep.Store = (*Store)(nil)

// PutSweep creates or replaces a sweep.
func (s *Store) PutSweep(ctx context.Context, sw sweep.Sweep) (sweep.Sweep, error) {
	ctx = sqlstore.MayWait(ctx)
	row, err := sqlstore.NewSweepRow(&sweep.Record{Sweep: sw})
	if err != nil {
		return sweep.Sweep{}, fmt.Errorf("put sweep: %w", err)
	}
	err = s.inTx(ctx, "put sweep", func(ctx context.Context, t *txn) error {
		stored, err := t.putSweep(ctx, &sw, &row)
		if err == nil {
			sw = stored
		}
		return err
	})
	if err != nil {
		return sweep.Sweep{}, err
	}
	return sw, nil
}

func (t *txn) putSweep(ctx context.Context, s *sweep.Sweep, row *sqlstore.SweepRow) (sweep.Sweep, error) {
	id, err := t.storeSweep(ctx, s, row)
	if isDuplicate(err) {
		err = sqlstore.SweepTaken(s.Name)
	}
	if err != nil {
		return sweep.Sweep{}, err
	}
	stored, err := t.readSweeps(ctx, t.tx, sweep.Filter{IDs: []int64{id}})
	if err != nil {
		return sweep.Sweep{}, err
	}
	return stored[0].Sweep, nil
}

func (t *txn) storeSweep(ctx context.Context, s *sweep.Sweep, row *sqlstore.SweepRow) (int64, error) {
	if s.Version == 0 {
		now, err := t.clock(ctx)
		if err != nil {
			return 0, err
		}
		result, err := t.tx.ExecContext(ctx, t.sql.AddSweep, s.Name, s.Tenant, string(row.State), now, row.Body, row.Status)
		if err != nil {
			return 0, err
		}
		return result.LastInsertId()
	}
	before, err := t.lockSweep(ctx, s.ID)
	if err != nil {
		return 0, err
	}
	if before.Version != s.Version {
		return 0, sqlstore.SweepChanged(before.Name)
	}
	if err := sweep.CheckChange(&before, s); err != nil {
		return 0, err
	}
	return before.ID, t.must(ctx, 1, t.sql.SetSweep, s.Name, s.Tenant, row.Body, before.ID)
}

// lockSweep lets nobody else steer a sweep.
func (t *txn) lockSweep(ctx context.Context, id int64) (sweep.Record, error) {
	sweep, found, err := t.tryLockSweep(ctx, id, waitForLock)
	if err == nil && !found {
		err = sqlstore.NoSuchSweep(id)
	}
	return sweep, err
}

func (t *txn) tryLockSweep(ctx context.Context, id int64, wait string) (sweep sweep.Record, found bool, err error) {
	err = t.each(ctx, func(row *sql.Rows) error {
		found = true
		sweep, err = sqlstore.ScanSweep(row)
		return err
	}, fill(t.sql.LockSweep, "wait", wait), id)
	return sweep, found, err
}

// DeleteSweep removes a sweep with all that is known of it.
func (s *Store) DeleteSweep(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.inTx(ctx, "delete sweep", func(ctx context.Context, t *txn) error {
		sweep, err := t.lockSweep(ctx, id)
		if err != nil {
			return err
		}
		if err := sqlstore.SweepBusy(&sweep); err != nil {
			return err
		}
		for _, statement := range []string{
			t.sql.DropShards, t.sql.DropProgress, t.sql.DropFailed, t.sql.DropSweepLogs, t.sql.DropSweepEvents, t.sql.DropSweep,
		} {
			if _, err := t.exec(ctx, statement, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sweeps lists sweeps, newest first.
func (s *Store) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	sweeps, err := s.readSweeps(ctx, s.db, filter)
	if err != nil {
		return nil, fmt.Errorf("sweeps: %w", err)
	}
	return sweeps, nil
}

// readSweeps reads sweeps with the sums of their shards.
func (s *Store) readSweeps(ctx context.Context, q querier, filter sweep.Filter) ([]sweep.Record, error) {
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	var sweeps []sweep.Record
	err := each(ctx, q, func(row *sql.Rows) error {
		sweep, err := sqlstore.ScanSweep(row)
		sweeps = append(sweeps, sweep)
		return err
	}, fill(s.sql.Sweeps, "id", decimal(below), "named", chosenSweeps(filter), "limit", decimal(sqlstore.SweepPage(filter))))
	if err != nil {
		return nil, err
	}
	for list := range idChunks(sqlstore.SweepIDs(sweeps)) {
		err := each(ctx, q, func(row *sql.Rows) error { return sqlstore.ScanSums(row, sweeps) }, fill(s.sql.SweepSums, "ids", list))
		if err != nil {
			return nil, err
		}
	}
	return sweeps, nil
}

// chosenSweeps are the conditions of a filter.
func chosenSweeps(filter sweep.Filter) string {
	var conditions strings.Builder
	if len(filter.IDs) > 0 {
		conditions.WriteString(" and id in (" + idList(filter.IDs) + ")")
	}
	states := make([]string, len(filter.States))
	for i, state := range filter.States {
		states[i] = string(state)
	}
	for _, of := range []struct {
		column string
		names  []string
	}{{"name", filter.Names}, {"state", states}, {"tenant", filter.Tenants}} {
		if len(of.names) > 0 {
			conditions.WriteString(" and " + of.column + " in (" + nameList(of.names) + ")")
		}
	}
	return conditions.String()
}
