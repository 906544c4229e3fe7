package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// Shards implements sweep.Tx. It reads shards and jobs in one statement: a shard ends
// before its job, and must not appear to be without a job.
func (t *sweepTx) Shards(ctx context.Context) ([]sweep.Shard, []fairlead.State, error) {
	var shards []sweep.Shard
	var states []fairlead.State
	err := t.db.Each(ctx, func(row Scanner) error {
		var state fairlead.State
		shard, err := ScanShard(LongerRow(row, &state))
		shards, states = append(shards, shard), append(states, state)
		return err
	}, t.sql.ShardsAndStates, t.sweep)
	return shards, states, t.fail("shards", err)
}

// Cut implements sweep.Tx.
func (t *sweepTx) Cut(ctx context.Context, shards []sweep.Shard) error {
	old, states, err := t.Shards(ctx)
	if err != nil {
		return err
	}
	for i, state := range states {
		if state != "" && !state.Final() {
			return t.refuse("cut", ShardBusy(&old[i], state))
		}
	}
	var steered, stored Rows
	for i := range shards {
		s := &shards[i]
		steered.Add(t.sweep, int64(s.Number))
		stored.Add(t.sweep, int64(s.Number), s.From, s.To, s.Mark, s.Ended, s.Done, s.Abandoned, s.Again, s.Errors, s.Window, JSON(s.Pending), JSON(s.Source), s.Behind)
	}
	t.db.Queue(t.sql.DropShards, t.sweep)
	t.db.Queue(t.sql.DropProgress, t.sweep)
	t.db.Queue(t.sql.AddShards, &steered)
	t.db.Queue(t.sql.AddProgress, &stored)
	return nil
}

// Grant implements sweep.Tx.
func (t *sweepTx) Grant(ctx context.Context, shards []sweep.Shard) error {
	stored, err := list(ctx, t.db, ScanShard, t.sql.Shards, t.sweep)
	if err != nil {
		return t.fail("grant", err)
	}
	byNumber := make(map[int]*sweep.Shard, len(stored))
	for i := range stored {
		byNumber[stored[i].Number] = &stored[i]
	}
	var shares Rows
	for i := range shards {
		share, was := shards[i].Share, byNumber[shards[i].Number]
		if was == nil {
			return t.refuse("grant", NoSuchShard(t.sweep, shards[i].Number))
		}
		peak := peakOf(was, share)
		shares.Add(t.sweep, int64(was.Number), share.Rate, int64(share.InFlight), was.Fence, peak.Rate, int64(peak.InFlight))
	}
	t.db.Queue(t.sql.GrantShares, &shares)
	return nil
}

// Employ implements sweep.Tx.
func (t *sweepTx) Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := t.Enqueue(ctx, jobs); err != nil {
		return err
	}
	stored, err := list(ctx, t.db, scanNumber, t.sql.ShardNumbers, t.sweep)
	if err != nil {
		return t.fail("employ", err)
	}
	exists := make(map[int64]bool, len(stored))
	for _, number := range stored {
		exists[number] = true
	}
	var employed Rows
	for i, number := range numbers {
		if !exists[int64(number)] {
			return t.refuse("employ", NoSuchShard(t.sweep, number))
		}
		employed.Add(t.sweep, int64(number), jobs[i].ID)
	}
	t.db.Queue(t.sql.Employ, &employed)
	return nil
}

// Forget implements sweep.Tx.
func (t *sweepTx) Forget(context.Context) error {
	t.db.Queue(t.sql.DropFailed, t.sweep)
	return nil
}

// Again implements sweep.Tx.
func (t *sweepTx) Again(ctx context.Context, indexes []int64) (unknown []int64, err error) {
	var failed *[]int64
	if len(indexes) == 0 {
		t.db.Queue(t.sql.RetryAllFailed, t.sweep)
	} else {
		t.db.Queue(t.sql.RetryFailed, t.sweep, List[int64](indexes))
		failed = queueList(t.db, scanNumber, t.sql.KnownFailed, t.sweep, List[int64](indexes))
	}
	shards, err := list(ctx, t.db, ScanShard, t.sql.Shards, t.sweep)
	if err != nil {
		return nil, t.fail("again", err)
	}
	if failed != nil {
		known := make(map[int64]bool, len(*failed))
		for _, index := range *failed {
			known[index] = true
		}
		for _, index := range indexes {
			if !known[index] {
				unknown = append(unknown, index)
			}
		}
	}
	return unknown, t.fail("again", t.reopen(ctx, shards))
}

// reopen counts the items that wait for a retry in each shard and restarts the shards that
// have such items, without their previous jobs. A shard that had ended before its last item
// ends at the point it had reached. The row that steering writes is locked before the row
// that the run writes.
func (t *sweepTx) reopen(ctx context.Context, shards []sweep.Shard) error {
	counts := make([]*[]int64, len(shards))
	for i := range shards {
		first, end := ItemRange(sweep.ItemFilter{From: true, After: shards[i].From - 1, Below: shards[i].To})
		counts[i] = queueList(t.db, scanNumber, t.sql.CountAgain, t.sweep, first, end)
	}
	if err := t.db.Flush(ctx); err != nil {
		return err
	}
	for i := range shards {
		s, again := &shards[i], (*counts[i])[0]
		if again == 0 {
			continue
		}
		to := s.To
		if s.Ended {
			to = s.Mark
		}
		t.db.Queue(t.sql.Dismiss, t.sweep, s.Number)
		t.db.Queue(t.sql.ReopenShard, again, to, t.sweep, s.Number)
	}
	return nil
}
