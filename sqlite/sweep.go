package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

var _ sweep.Store = (*Store)(nil)

// PutSweep creates or replaces a sweep.
func (s *Store) PutSweep(ctx context.Context, sw sweep.Sweep) (sweep.Sweep, error) {
	row, err := sqlstore.NewSweepRow(&sweep.Record{Sweep: sw})
	if err != nil {
		return sweep.Sweep{}, err
	}
	return inTx(ctx, s, "put sweep", func(t *txn) (sweep.Sweep, error) { return t.putSweep(&sw, &row) })
}

func (t *txn) putSweep(s *sweep.Sweep, row *sqlstore.SweepRow) (sweep.Sweep, error) {
	id := int64(0)
	if s.Version != 0 {
		before, err := t.sweep(s.ID)
		if err != nil {
			return sweep.Sweep{}, err
		}
		if before.Version != s.Version {
			return sweep.Sweep{}, sqlstore.SweepChanged(before.Name)
		}
		if err := sweep.CheckChange(&before, s); err != nil {
			return sweep.Sweep{}, err
		}
		id = before.ID
	}
	var other int64
	taken, err := t.one(t.sql.SweepNamed, []any{s.Name}, &other)
	if err != nil {
		return sweep.Sweep{}, err
	}
	if taken && other != id {
		return sweep.Sweep{}, sqlstore.SweepTaken(s.Name)
	}
	if id != 0 {
		err = t.must(1, t.sql.SetSweep, s.Name, s.Tenant, s.Version+1, string(row.Body), id)
	} else if id, err = t.next(sweepCounter, 1); err == nil {
		err = t.must(1, t.sql.AddSweep, id, s.Name, s.Tenant, string(row.State), 1, t.now, string(row.Body), string(row.Status))
	}
	if err != nil {
		return sweep.Sweep{}, err
	}
	stored, err := t.summed(t.sql.Sweep, id)
	if err != nil {
		return sweep.Sweep{}, err
	}
	return stored[0].Sweep, nil
}

// sweep reads a sweep, without the sum of its shards.
func (t *txn) sweep(id int64) (sweep.Record, error) {
	found, err := t.sweeps(t.sql.Sweep, id)
	if err != nil {
		return sweep.Record{}, err
	}
	if len(found) == 0 {
		return sweep.Record{}, sqlstore.NoSuchSweep(id)
	}
	return found[0], nil
}

func (t *txn) sweeps(query string, args ...any) ([]sweep.Record, error) {
	var sweeps []sweep.Record
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		sweep, err := sqlstore.ScanSweep(row)
		sweeps = append(sweeps, sweep)
		return err
	})
	return sweeps, err
}

// summed reads sweeps with the sums of their shards.
func (t *txn) summed(query string, args ...any) ([]sweep.Record, error) {
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
	_, err := inTx(ctx, s, "delete sweep", func(t *txn) (none, error) {
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
func (s *Store) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	return read(ctx, s, "list sweeps", func(t *txn) ([]sweep.Record, error) { return t.chosenSweeps(filter) })
}

func (t *txn) chosenSweeps(filter sweep.Filter) ([]sweep.Record, error) {
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
	query := t.sql.Sweeps + " where " + strings.Join(conditions, " and ") + " order by id desc limit " + strconv.Itoa(sqlstore.SweepPage(filter))
	return t.summed(query, args...)
}
