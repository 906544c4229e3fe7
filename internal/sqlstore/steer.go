package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// steerStore steers sweeps.
type steerStore struct {
	db     Database
	acting Acting
	sql    *SteerStatements
}

// SteerStatements holds the SQL statements of steerStore.
type SteerStatements struct {
	LockSweep       string `sql:"lock_sweep"`
	TrySweep        string `sql:"try_sweep"`
	SweepClock      string `sql:"sweep_clock"`
	KeepSweep       string `sql:"keep_sweep"`
	AddSweepEvent   string `sql:"add_sweep_event"`
	Shards          string `sql:"shards"`
	ShardsAndStates string `sql:"shards_and_states"`
	ShardNumbers    string `sql:"shard_numbers"`
	DropShards      string `sql:"drop_shards"`
	DropProgress    string `sql:"drop_progress"`
	AddShards       string `sql:"add_shards"`
	AddProgress     string `sql:"add_progress"`
	GrantShares     string `sql:"grant_shares"`
	Employ          string `sql:"employ"`
	DropFailed      string `sql:"drop_failed"`
	KnownFailed     string `sql:"known_failed"`
	RetryFailed     string `sql:"retry_failed"`
	RetryAllFailed  string `sql:"retry_all_failed"`
	CountAgain      string `sql:"count_again"`
	Dismiss         string `sql:"dismiss"`
	ReopenShard     string `sql:"reopen_shard"`
}

// Steer runs act on a sweep under its lock, as Conduct does with a batch.
//
// A shard has two rows. One holds its job and its share of the rate; only transactions under
// this lock change it. The other holds its progress, which the checkpoints of its run write
// without the lock, so a run never waits for Steer. The progress that act reads may
// therefore be outdated before the transaction commits. The next call sees the rest.
func (s *steerStore) Steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, sweep *sweep.Record, tx sweep.Tx) error) (bool, error) {
	return actLocked(ctx, s.acting, "steer", Subject{"sweep", id}, wait, func(ctx context.Context, locked lockedTx) (bool, error) {
		tx := &sweepTx{lockedTx: locked, sql: s.sql, sweep: id}
		before, err := tx.lock(ctx, wait)
		if err != nil || before == nil {
			return false, err
		}
		after := *before
		if err := tx.outcome(act(ctx, &after, tx)); err != nil {
			return true, err
		}
		return true, tx.keep(before, &after)
	})
}

// Shards returns the shards of a sweep.
func (s *steerStore) Shards(ctx context.Context, sweep int64) ([]sweep.Shard, error) {
	return readList(ctx, s.db.Read, "shards", ScanShard, s.sql.Shards, sweep)
}

// sweepTx is a transaction that steers a sweep. It implements sweep.Tx.
type sweepTx struct {
	lockedTx
	sql   *SteerStatements
	sweep int64
}

var _ sweep.Tx = (*sweepTx)(nil)

// lock locks the sweep and then reads the clock, see batchTx.lock. It returns nil if another
// transaction holds the lock and wait is not set.
func (t *sweepTx) lock(ctx context.Context, wait bool) (*sweep.Record, error) {
	statement, exists := t.sql.TrySweep, false
	if wait {
		statement = t.sql.LockSweep
	}
	found := queueList(t.db, ScanSweep, statement, t.sweep)
	t.db.QueueEach(func(row Scanner) error { return row.Scan(&t.now, &exists) }, t.sql.SweepClock, t.sweep)
	if err := t.db.Flush(ctx); err != nil {
		return nil, err
	}
	switch {
	case !exists:
		return nil, NoSuchSweep(t.sweep)
	case len(*found) == 0:
		return nil, nil
	}
	return &(*found)[0], nil
}

// keep writes the changes of the sweep.
func (t *sweepTx) keep(before, after *sweep.Record) error {
	row, news, err := SteeredRow(before, after)
	if err != nil || !news {
		return err
	}
	body := JSON(row.Body)
	if row.Version == before.Version {
		body = nil // unchanged
	}
	t.db.Queue(t.sql.KeepSweep, string(row.State), row.Version, JSON(row.Status), body, t.sweep)
	return nil
}

// Enqueue implements sweep.Tx.
func (t *sweepTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	return t.fail("enqueue", t.db.Enqueue(ctx, jobs))
}

// Record implements sweep.Tx.
func (t *sweepTx) Record(_ context.Context, event sweep.Event) error {
	t.db.Queue(t.sql.AddSweepEvent, t.sweep, t.now, CleanText(event.By), CleanText(event.Action), string(event.From), string(event.To), CleanText(event.Note))
	return nil
}
