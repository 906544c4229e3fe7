package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Shards returns the shards of a sweep.
func (s *Store) Shards(ctx context.Context, sw int64) ([]sweep.Shard, error) {
	var shards []sweep.Shard
	if err := s.run(ctx, s.shardsCall(&shards, sw)); err != nil {
		return nil, fmt.Errorf("shards: %w", err)
	}
	return shards, nil
}

func (s *Store) shardsCall(shards *[]sweep.Shard, sweep int64) call {
	return call{sql: s.sql.Shards, args: []any{sweep}, restart: func() { *shards = nil }, each: func(row sqlstore.Scanner) error {
		shard, err := sqlstore.ScanShard(row)
		*shards = append(*shards, shard)
		return err
	}}
}

// Shards implements sweep.Tx.
func (t *sweepTx) Shards(ctx context.Context) ([]sweep.Shard, []fairlead.State, error) {
	var shards []sweep.Shard
	var states []fairlead.State
	err := t.in.run(ctx, call{sql: t.sql.ShardsAndStates, args: []any{t.sweep}, each: func(row sqlstore.Scanner) error {
		var state fairlead.State
		shard, err := sqlstore.ScanShard(longerRow{row, []any{&state}})
		shards, states = append(shards, shard), append(states, state)
		return err
	}})
	return shards, states, t.note("shards", err)
}

// Cut implements sweep.Tx.
func (t *sweepTx) Cut(ctx context.Context, shards []sweep.Shard) error {
	old, states, err := t.Shards(ctx)
	if err != nil {
		return err
	}
	for i, state := range states {
		if state != "" && !state.Final() {
			return t.note("cut", sqlstore.ShardBusy(&old[i], state))
		}
	}
	n := len(shards)
	numbers, from, to, marks, ended := make([]int, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]bool, n)
	windows, pending, sources := make([][]byte, n), make([]*string, n), make([]*string, n)
	done, abandoned, again, errs := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range shards {
		s := &shards[i]
		numbers[i], from[i], to[i], marks[i], ended[i] = s.Number, s.From, s.To, s.Mark, s.Ended
		windows[i], pending[i], sources[i] = s.Window, jsonText(s.Pending), jsonText(s.Source)
		done[i], abandoned[i], again[i], errs[i] = s.Done, s.Abandoned, s.Again, s.Errors
	}
	return t.note("cut", t.in.run(ctx,
		call{sql: t.sql.DropShards, args: []any{t.sweep}},
		call{sql: t.sql.AddShards, args: []any{t.sweep, numbers, from, to, marks, ended, windows, pending, done, abandoned, again, errs, sources}}))
}

// Forget implements sweep.Tx.
func (t *sweepTx) Forget(ctx context.Context) error {
	return t.note("forget", t.in.run(ctx, call{sql: t.sql.DropFailed, args: []any{t.sweep}}))
}

// Grant implements sweep.Tx.
func (t *sweepTx) Grant(ctx context.Context, shards []sweep.Shard) error {
	var stored []sweep.Shard
	if err := t.in.run(ctx, t.shardsCall(&stored, t.sweep)); err != nil {
		return t.note("grant", err)
	}
	byNumber := make(map[int]*sweep.Shard, len(stored))
	for i := range stored {
		byNumber[stored[i].Number] = &stored[i]
	}
	n := len(shards)
	numbers, rates, slots, fences := make([]int, n), make([]float64, n), make([]int, n), make([]int64, n)
	peakRates, peakSlots := make([]float64, n), make([]int, n)
	for i := range shards {
		share, was := shards[i].Share, byNumber[shards[i].Number]
		if was == nil {
			return t.note("grant", sqlstore.NoSuchShard(t.sweep, shards[i].Number))
		}
		peak := sqlstore.PeakOf(was, share)
		numbers[i], rates[i], slots[i], fences[i] = was.Number, share.Rate, share.InFlight, was.Fence
		peakRates[i], peakSlots[i] = peak.Rate, peak.InFlight
	}
	return t.note("grant", t.in.run(ctx, call{sql: t.sql.GrantShares, args: []any{t.sweep, numbers, rates, slots, fences, peakRates, peakSlots}}))
}
