package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Shards returns the shards of a sweep.
func (s *Store) Shards(ctx context.Context, sweep int64) ([]sweep.Shard, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	shards, err := s.readShards(ctx, s.db, sweep)
	if err != nil {
		return nil, fmt.Errorf("shards: %w", err)
	}
	return shards, nil
}

func (s *Store) readShards(ctx context.Context, q querier, sweep int64) (shards []sweep.Shard, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		shard, err := sqlstore.ScanShard(row)
		shards = append(shards, shard)
		return err
	}, s.sql.Shards, sweep)
	return shards, err
}

// shardsAndStates reads shards and the states of their jobs. The states come first: a
// shard ends before its job does, and must not seem to be left without one.
func (t *txn) shardsAndStates(ctx context.Context, sweep int64) ([]sweep.Shard, []fairlead.State, error) {
	var jobs []int64
	if err := t.each(ctx, collect(&jobs), t.sql.ShardJobs, sweep); err != nil {
		return nil, nil, err
	}
	byJob, err := t.statesOf(ctx, jobs)
	if err != nil {
		return nil, nil, err
	}
	shards, err := t.readShards(ctx, t.tx, sweep)
	states := make([]fairlead.State, len(shards))
	for i := range shards {
		states[i] = byJob[shards[i].Job]
	}
	return shards, states, err
}

// statesOf tells how jobs stand, by id.
func (t *txn) statesOf(ctx context.Context, jobs []int64) (map[int64]fairlead.State, error) {
	states := make(map[int64]fairlead.State, len(jobs))
	for chunk := range slices.Chunk(jobs, chunkTuples) {
		statement, args := t.query.Find(fairlead.Filter{IDs: chunk, Limit: len(chunk)}, sqlstore.Window{})
		err := t.each(ctx, func(row *sql.Rows) error {
			job, _, err := t.query.ScanJob(row)
			if err == nil {
				states[job.ID] = job.State
			}
			return err
		}, statement, args...)
		if err != nil {
			return nil, err
		}
	}
	return states, nil
}

// cut makes the shards of a sweep anew.
func (t *txn) cut(ctx context.Context, sweep int64, shards []sweep.Shard) error {
	old, states, err := t.shardsAndStates(ctx, sweep)
	if err != nil {
		return err
	}
	for i, state := range states {
		if state != "" && !state.Final() {
			return sqlstore.ShardBusy(&old[i], state)
		}
	}
	for _, statement := range []string{t.sql.DropShards, t.sql.DropProgress} {
		if _, err := t.exec(ctx, statement, sweep); err != nil {
			return err
		}
	}
	var steered, stored tuples
	for i := range shards {
		s, ended := &shards[i], int64(0)
		if s.Ended {
			ended = 1
		}
		steered.add().ints(sweep, int64(s.Number)).end()
		stored.add().ints(sweep, int64(s.Number), s.From, s.To, s.Mark, ended, s.Done, s.Abandoned, s.Again, s.Errors).
			blob(s.Window).blob(s.Pending).blob(s.Source).end()
	}
	if err := t.insert(ctx, t.sql.AddShards, &steered); err != nil {
		return err
	}
	return t.insert(ctx, t.sql.AddProgress, &stored)
}

// shardsByNumber reads the shards of a sweep, and fails if one of some numbers is none
// of theirs.
func (t *txn) shardsByNumber(ctx context.Context, s int64, numbers []int) (map[int]*sweep.Shard, error) {
	stored, err := t.readShards(ctx, t.tx, s)
	if err != nil {
		return nil, err
	}
	byNumber := make(map[int]*sweep.Shard, len(stored))
	for i := range stored {
		byNumber[stored[i].Number] = &stored[i]
	}
	for _, number := range numbers {
		if byNumber[number] == nil {
			return nil, sqlstore.NoSuchShard(s, number)
		}
	}
	return byNumber, nil
}

// grant stores the shares of some shards.
func (t *txn) grant(ctx context.Context, sweep int64, shards []sweep.Shard) error {
	numbers := make([]int, len(shards))
	for i := range shards {
		numbers[i] = shards[i].Number
	}
	stored, err := t.shardsByNumber(ctx, sweep, numbers)
	if err != nil {
		return err
	}
	var shares tuples
	for i := range shards {
		share, was := shards[i].Share, stored[shards[i].Number]
		peak := sqlstore.PeakOf(was, share)
		shares.add().ints(sweep, int64(was.Number)).float(share.Rate).ints(int64(share.InFlight), was.Fence).float(peak.Rate).int(int64(peak.InFlight)).end()
	}
	return t.insert(ctx, t.sql.GrantShares, &shares)
}

// employ gives shards their jobs.
func (t *txn) employ(ctx context.Context, sweep int64, numbers []int, jobs []*fairlead.Job) error {
	if _, err := t.shardsByNumber(ctx, sweep, numbers); err != nil {
		return err
	}
	var employed tuples
	for i, number := range numbers {
		employed.add().ints(sweep, int64(number), jobs[i].ID).end()
	}
	return t.insert(ctx, t.sql.Employ, &employed)
}
