package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Shards returns the shards of a sweep.
func (s *Store) Shards(ctx context.Context, sw int64) ([]sweep.Shard, error) {
	return read(ctx, s, "list shards", func(t *txn) ([]sweep.Shard, error) { return t.shards(sw) })
}

func (t *txn) shards(s int64) ([]sweep.Shard, error) {
	var shards []sweep.Shard
	err := t.each(t.sql.Shards, []any{s}, func(row sqlstore.Scanner) error {
		shard, err := sqlstore.ScanShard(row)
		shards = append(shards, shard)
		return err
	})
	return shards, err
}

// shardsAndStates reads shards and the states of their jobs.
func (t *txn) shardsAndStates(sweep int64) ([]sweep.Shard, []fairlead.State, error) {
	shards, err := t.shards(sweep)
	if err != nil {
		return nil, nil, err
	}
	states := make([]fairlead.State, len(shards))
	for i := range shards {
		if shards[i].Job == 0 {
			continue
		}
		if states[i], err = t.stateOf(shards[i].Job); err != nil {
			return nil, nil, err
		}
	}
	return shards, states, nil
}

// stateOf is the state of a job, empty if there is none.
func (t *txn) stateOf(job int64) (state fairlead.State, err error) {
	_, err = t.one(t.sql.StateOf, []any{job}, &state)
	return state, err
}

// cut makes the shards of a sweep anew.
func (t *txn) cut(sweep int64, shards []sweep.Shard) error {
	old, states, err := t.shardsAndStates(sweep)
	if err != nil {
		return err
	}
	for i, state := range states {
		if state != "" && !state.Final() {
			return sqlstore.ShardBusy(&old[i], state)
		}
	}
	for _, remove := range []string{t.sql.DeleteShards, t.sql.DeleteProgress} {
		if _, err := t.exec(remove, sweep); err != nil {
			return err
		}
	}
	for i := range shards {
		s := &shards[i]
		if err := t.must(1, t.sql.AddShard, sweep, s.Number); err != nil {
			return err
		}
		err := t.must(1, t.sql.AddProgress, sweep, s.Number, s.From, s.To, s.Ended, s.Mark, blob(s.Window), text(s.Pending),
			s.Done, s.Abandoned, s.Again, s.Errors, text(s.Source))
		if err != nil {
			return err
		}
	}
	return nil
}

// grant stores the shares of some shards.
func (t *txn) grant(s int64, shards []sweep.Shard) error {
	stored, err := t.shards(s)
	if err != nil {
		return err
	}
	byNumber := make(map[int]*sweep.Shard, len(stored))
	for i := range stored {
		byNumber[stored[i].Number] = &stored[i]
	}
	for i := range shards {
		share, was := shards[i].Share, byNumber[shards[i].Number]
		if was == nil {
			return sqlstore.NoSuchShard(s, shards[i].Number)
		}
		peak := sqlstore.PeakOf(was, share)
		err := t.must(1, t.sql.Grant, share.Rate, share.InFlight, was.Fence, peak.Rate, peak.InFlight, s, was.Number)
		if err != nil {
			return err
		}
	}
	return nil
}
