package sqlstore

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// A shard is stored in two rows. The transaction that steers the sweep writes one: the
// shard's job and the latest granted share. The shard's run writes the other: its progress.
// Neither waits for the other.
//
// Shares are numbered, and the run's row contains the number of the share that the run read
// last. While newer shares exist, the store does not know whether the run uses that share
// or a newer one: peak is the maximum of these shares. A share applies only to the run that
// had the fence when the share was granted.

// Granted is a shard's share in its stored form.
type Granted struct {
	sweep.Share
	Number int64 // number of grants so far
	Fence  int64 // fence of the run that received the share
	Peak   sweep.Share
}

// For returns the share of the run that has the given fence. It returns an empty share if the
// share was granted to a different run.
func (g *Granted) For(fence int64) sweep.Share {
	if g.Fence != fence {
		return sweep.Share{}
	}
	return g.Share
}

// told returns the largest share that the run with a fence may be using, given the number
// of the share that it read last.
func (g *Granted) told(fence, number int64) sweep.Share {
	if g.Fence == fence && g.Number != number {
		return g.Peak
	}
	return g.For(fence)
}

// peakOf returns the largest share that the run of a shard may be using after it is granted
// a share.
func peakOf(stored *sweep.Shard, share sweep.Share) sweep.Share {
	return stored.Told.Or(share)
}

// ScanShard reads a shard from the columns sweep, number, from_index, to_index, job, ended,
// mark, bits, pending, done, abandoned, again, errors, source, share_rate, share_slots,
// share_number, share_fence, peak_rate, peak_slots, used_rate, used_slots, told, fence,
// saved_at, measured and behind.
func ScanShard(row Scanner) (s sweep.Shard, err error) {
	var saved, told int64
	var pending, source []byte
	var granted Granted
	err = row.Scan(&s.Sweep, &s.Number, &s.From, &s.To, &s.Job, &s.Ended, &s.Mark, &s.Window, &pending,
		&s.Done, &s.Abandoned, &s.Again, &s.Errors, &source, &granted.Rate, &granted.InFlight, &granted.Number, &granted.Fence,
		&granted.Peak.Rate, &granted.Peak.InFlight, &s.Used.Rate, &s.Used.InFlight, &told, &s.Fence, &saved, &s.Measured, &s.Behind)
	s.Pending, s.Source, s.SavedAt = pending, source, Time(saved)
	s.Share, s.Told = granted.For(s.Fence), granted.told(s.Fence, told)
	return s, err
}

// ScanSums reads the totals of a sweep's shards and sets them in the matching sweep. The
// columns are sweep, total, marked, done, abandoned, again, errors, in_window and measured.
func ScanSums(row Scanner, sweeps []sweep.Record) error {
	var id int64
	var sums sweep.Progress
	if err := row.Scan(&id, &sums.Total, &sums.Marked, &sums.Done, &sums.Abandoned, &sums.Again, &sums.Errors, &sums.InWindow, &sums.Rate); err != nil {
		return err
	}
	i := slices.IndexFunc(sweeps, func(s sweep.Record) bool { return s.ID == id })
	SetSums(&sweeps[i], sums)
	return nil
}

// SetSums sets the totals of a sweep's shards in the sweep.
func SetSums(s *sweep.Record, sums sweep.Progress) {
	if !s.Cut {
		sums.Total = s.Total
	}
	if s.State != sweep.Running {
		sums.Rate = 0
	}
	s.Progress = sums
}

// OrdersOf returns the response to a checkpoint. done and abandoned are the numbers of items
// in all shards. They exclude items that wait for a retry.
func OrdersOf(s *sweep.Record, share sweep.Share, done, abandoned int64) sweep.Orders {
	return sweep.Orders{Stop: s.State != sweep.Running, Share: share, Data: s.Data, Left: s.BudgetLeft(done, abandoned)}
}

// AgainAfter returns how many of a shard's items wait for a retry after the checkpoint.
func AgainAfter(c *sweep.Checkpoint) int64 {
	if c.Ended {
		return 0
	}
	return c.Again
}

// ShardLost returns an ErrLeaseLost for a job that no longer processes its shard.
func ShardLost(c *sweep.Checkpoint) error {
	return fmt.Errorf("job %d, shard %d of sweep %d: %w", c.Job, c.Number, c.Sweep, fairlead.ErrLeaseLost)
}

// BehindMark returns an ErrConflict for a checkpoint whose mark is behind the stored mark.
func BehindMark(c *sweep.Checkpoint) error {
	return fmt.Errorf("shard %d of sweep %d has progressed beyond %d: %w", c.Number, c.Sweep, c.Mark, fairlead.ErrConflict)
}

// ShardBusy returns an ErrConflict for a sweep that cannot be split again because the job of
// one of its shards has not ended.
func ShardBusy(s *sweep.Shard, state fairlead.State) error {
	return fmt.Errorf("shard %d of sweep %d cannot be split again: its job %d is %s: %w", s.Number, s.Sweep, s.Job, state, fairlead.ErrConflict)
}

// NoSuchShard returns an ErrNotFound for a shard number.
func NoSuchShard(sweep int64, number int) error {
	return fmt.Errorf("shard %d of sweep %d: %w", number, sweep, fairlead.ErrNotFound)
}
