package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

var _ fairlead.Sweeper = (*Store)(nil)

// PutSweep creates or replaces a sweep.
func (s *Store) PutSweep(ctx context.Context, sweep fairlead.Sweep) (fairlead.Sweep, error) {
	row, err := sqlstore.NewSweepRow(&sweep)
	if err != nil {
		return fairlead.Sweep{}, err
	}
	return write(ctx, s, "put sweep", func(t *txn) (fairlead.Sweep, error) { return t.putSweep(&sweep, &row) })
}

func (t *txn) putSweep(sweep *fairlead.Sweep, row *sqlstore.SweepRow) (fairlead.Sweep, error) {
	id := int64(0)
	if sweep.Version != 0 {
		before, err := t.sweep(sweep.ID)
		if err != nil {
			return fairlead.Sweep{}, err
		}
		if before.Version != sweep.Version {
			return fairlead.Sweep{}, sqlstore.SweepChanged(before.Name)
		}
		if err := fairlead.CheckSweepChange(&before, sweep); err != nil {
			return fairlead.Sweep{}, err
		}
		id = before.ID
	}
	var other int64
	taken, err := t.one(t.sql.SweepNamed, []any{sweep.Name}, &other)
	if err != nil {
		return fairlead.Sweep{}, err
	}
	if taken && other != id {
		return fairlead.Sweep{}, sqlstore.SweepTaken(sweep.Name)
	}
	if id != 0 {
		err = t.must(1, t.sql.SetSweep, sweep.Name, sweep.Tenant, sweep.Version+1, string(row.Body), id)
	} else if id, err = t.next(sweepCounter, 1); err == nil {
		err = t.must(1, t.sql.AddSweep, id, sweep.Name, sweep.Tenant, string(row.State), 1, t.now, string(row.Body), string(row.Status))
	}
	if err != nil {
		return fairlead.Sweep{}, err
	}
	stored, err := t.summed(t.sql.Sweep, id)
	if err != nil {
		return fairlead.Sweep{}, err
	}
	return stored[0], nil
}

// sweep reads a sweep, without the sum of its shards.
func (t *txn) sweep(id int64) (fairlead.Sweep, error) {
	found, err := t.sweeps(t.sql.Sweep, id)
	if err != nil {
		return fairlead.Sweep{}, err
	}
	if len(found) == 0 {
		return fairlead.Sweep{}, sqlstore.NoSuchSweep(id)
	}
	return found[0], nil
}

func (t *txn) sweeps(query string, args ...any) ([]fairlead.Sweep, error) {
	var sweeps []fairlead.Sweep
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		sweep, err := sqlstore.ScanSweep(row)
		sweeps = append(sweeps, sweep)
		return err
	})
	return sweeps, err
}

// summed reads sweeps with the sums of their shards.
func (t *txn) summed(query string, args ...any) ([]fairlead.Sweep, error) {
	sweeps, err := t.sweeps(query, args...)
	if err != nil || len(sweeps) == 0 {
		return nil, err
	}
	return sweeps, t.each(t.sql.SweepSums, []any{idList(sqlstore.SweepIDs(sweeps))}, func(row sqlstore.Scanner) error {
		return sqlstore.ScanSums(row, sweeps)
	})
}

// DeleteSweep removes a sweep with all that is known of it.
func (s *Store) DeleteSweep(ctx context.Context, id int64) error {
	_, err := write(ctx, s, "delete sweep", func(t *txn) (none, error) {
		sweep, err := t.sweep(id)
		if err == nil {
			err = sqlstore.SweepBusy(&sweep)
		}
		if err != nil {
			return none{}, err
		}
		for _, remove := range []string{
			t.sql.DeleteShards, t.sql.DeleteProgress, t.sql.DeleteFailed, t.sql.DeleteSweepLogs, t.sql.DeleteSweepEvents, t.sql.DeleteSweep,
		} {
			if _, err := t.exec(remove, id); err != nil {
				return none{}, err
			}
		}
		return none{}, nil
	})
	return err
}

// Sweeps returns the sweeps that match.
func (s *Store) Sweeps(ctx context.Context, filter fairlead.SweepFilter) ([]fairlead.Sweep, error) {
	conditions, args := []string{"true"}, []any(nil)
	add := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	if len(filter.IDs) > 0 {
		add("id in (select value from json_each(?))", idList(filter.IDs))
	}
	if len(filter.Names) > 0 {
		add("name in (select value from json_each(?))", jsonOf(filter.Names))
	}
	if len(filter.States) > 0 {
		add("state in (select value from json_each(?))", jsonOf(filter.States))
	}
	if len(filter.Tenants) > 0 {
		add("tenant in (select value from json_each(?))", jsonOf(filter.Tenants))
	}
	if filter.Below > 0 {
		add("id < ?", filter.Below)
	}
	query := s.sql.Sweeps + " where " + strings.Join(conditions, " and ") + " order by id desc limit " + strconv.Itoa(sqlstore.SweepPage(filter))
	return read(ctx, s, "list sweeps", func(t *txn) ([]fairlead.Sweep, error) { return t.summed(query, args...) })
}
