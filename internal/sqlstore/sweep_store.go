package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/sweep"
)

// SweepDialect implements the sweep operations that differ between databases.
type SweepDialect interface {
	// ReadSweeps reads sweeps with the totals of their shards, newest first. The index to
	// use for a filter, and whether the totals need a separate statement, depend on the
	// database.
	ReadSweeps(ctx context.Context, db DB, filter sweep.Filter) ([]sweep.Record, error)
	// IsTaken reports whether an error is a duplicate-key error.
	IsTaken(err error) bool
}

// sweepStore stores sweeps.
type sweepStore struct {
	db      Database
	dialect SweepDialect
	sql     *SweepStatements
	steered *SteerStatements
}

// SweepStatements holds the SQL statements of sweepStore.
type SweepStatements struct {
	AddSweep        string `sql:"add_sweep"`
	ReplaceSweep    string `sql:"replace_sweep"`
	DeleteSweep     string `sql:"delete_sweep"`
	DropSweepLogs   string `sql:"drop_sweep_logs"`
	DropSweepEvents string `sql:"drop_sweep_events"`
	AddSweepItems   string `sql:"add_sweep_items"`
	DropSweepItems  string `sql:"drop_sweep_items"`
	SweepItems      string `sql:"sweep_items"`
}

// NewSweeps returns a sweep store that runs in the caller's transaction.
func NewSweeps(callers Database, dialect SweepDialect, statements *FeatureStatements) sweep.CallerTx {
	return &sweepStore{db: callers, dialect: dialect, sql: &statements.SweepStatements, steered: &statements.SteerStatements}
}

// PutSweep creates or replaces a sweep.
func (s *sweepStore) PutSweep(ctx context.Context, sw sweep.Sweep) (sweep.Sweep, error) {
	row, err := NewSweepRow(&sweep.Record{Sweep: sw})
	if err != nil {
		return sweep.Sweep{}, fmt.Errorf("put sweep: %w", err)
	}
	chunks, err := listChunks(sw.Items)
	if err != nil {
		return sweep.Sweep{}, fmt.Errorf("put sweep: %w", err)
	}
	var stored []sweep.Record
	err = s.db.InTx(MayWait(ctx), "put sweep", func(ctx context.Context, db DB) (err error) {
		hit, relisted, err := s.put(ctx, db, &sw, &row)
		if err != nil {
			return err
		}
		if stored, err = s.dialect.ReadSweeps(ctx, db, sweep.Filter{Names: []string{sw.Name}}); err == nil && *hit == 0 {
			err = SweepTaken(sw.Name)
		}
		if err == nil && relisted {
			s.putItems(db, stored[0].ID, chunks)
		}
		return err
	})
	switch {
	case err != nil && s.dialect.IsTaken(err):
		return sweep.Sweep{}, fmt.Errorf("put sweep: %w", SweepTaken(sw.Name))
	case err != nil:
		return sweep.Sweep{}, err
	}
	return stored[0].Sweep, nil
}

// put queues the statement that stores a sweep. The statement fails, or hits no row, if
// another sweep has the name. put reports whether the list of the sweep differs from the
// stored one.
func (s *sweepStore) put(ctx context.Context, db DB, sw *sweep.Sweep, row *SweepRow) (hit *int64, relisted bool, err error) {
	if sw.Version == 0 {
		return db.Queue(s.sql.AddSweep, sw.Name, sw.Tenant, string(row.State), JSON(row.Status), JSON(row.Body)), sw.Source.Listed > 0, nil
	}
	before, err := s.lock(ctx, db, sw.ID)
	if err != nil {
		return nil, false, err
	}
	if before.Version != sw.Version {
		return nil, false, SweepChanged(before.Name)
	}
	if err := sweep.CheckChange(before, sw); err != nil {
		return nil, false, err
	}
	relisted = before.Source.Digest != sw.Source.Digest
	return db.Queue(s.sql.ReplaceSweep, sw.Name, sw.Tenant, JSON(row.Body), sw.ID), relisted, nil
}

// lock prevents other transactions from steering a sweep.
func (s *sweepStore) lock(ctx context.Context, db DB, id int64) (*sweep.Record, error) {
	found, err := list(ctx, db, ScanSweep, s.steered.LockSweep, id)
	if err == nil && len(found) == 0 {
		err = NoSuchSweep(id)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// DeleteSweep removes a sweep with all its records. It deletes the sweep first: the delete
// waits for transactions that are adding log lines, so that it finds and removes those
// lines too.
func (s *sweepStore) DeleteSweep(ctx context.Context, id int64) error {
	return s.db.InTx(MayWait(ctx), "delete sweep", func(ctx context.Context, db DB) error {
		sweep, err := s.lock(ctx, db, id)
		if err == nil {
			err = sweepBusy(sweep)
		}
		if err != nil {
			return err
		}
		for _, statement := range []string{
			s.sql.DeleteSweep, s.steered.DropShards, s.steered.DropProgress, s.steered.DropFailed, s.sql.DropSweepLogs, s.sql.DropSweepEvents, s.sql.DropSweepItems,
		} {
			db.Queue(statement, id)
		}
		return nil
	})
}

// Sweeps lists sweeps, newest first.
func (s *sweepStore) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	// not a named result: the function may still run after an error
	var sweeps []sweep.Record
	err := s.db.Read(ctx, "sweeps", func(ctx context.Context, db DB) (err error) {
		sweeps, err = s.dialect.ReadSweeps(ctx, db, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	return sweeps, nil
}

// SumSweeps reads the totals of all shards with the statement sums, and sets them in the given
// sweeps.
func SumSweeps(ctx context.Context, db DB, sweeps []sweep.Record, sums string) error {
	if len(sweeps) == 0 {
		return nil
	}
	ids := make(List[int64], len(sweeps))
	for i := range sweeps {
		ids[i] = sweeps[i].ID
	}
	return db.Each(ctx, func(row Scanner) error { return ScanSums(row, sweeps) }, sums, ids)
}

// ReadSweepRows reads sweeps without the totals of their shards.
func ReadSweepRows(ctx context.Context, db DB, statement string, args ...any) (sweeps []sweep.Record, err error) {
	err = db.Each(ctx, Collect(ctx, &sweeps, ScanSweep), statement, args...)
	return sweeps, err
}
