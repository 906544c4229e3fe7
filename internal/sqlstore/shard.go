package sqlstore

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// A shard is kept in two rows. The transaction that steers the sweep writes one: the
// shard's job, and the share that it was granted last. The shard's run writes the other:
// how far it has come. Neither waits for the other.
//
// Shares are numbered, and the row of the run has the number of the share that the run
// read last. While newer shares exist, the store does not know whether the run goes by
// that share or by a newer one: peak is the most of them. A share counts for the run that
// had the fence when it was granted, and for no later run.

// Granted is the share of a shard as it is stored.
type Granted struct {
	sweep.Share
	Number int64 // counts what was granted
	Fence  int64 // of the run that it was granted to
	Peak   sweep.Share
}

// For is the share of the run with a fence: none if it was granted to another run.
func (g *Granted) For(fence int64) sweep.Share {
	if g.Fence != fence {
		return sweep.Share{}
	}
	return g.Share
}

// told is the most that the run with a fence goes by, if the share that it read last
// has the number.
func (g *Granted) told(fence, number int64) sweep.Share {
	if g.Fence == fence && g.Number != number {
		return g.Peak
	}
	return g.For(fence)
}

// peakOf is the most that the run of a shard may go by once it is granted a share.
func peakOf(stored *sweep.Shard, share sweep.Share) sweep.Share {
	return stored.Told.Or(share)
}

// ScanShard reads sweep, number, from_index, to_index, job, ended, mark, bits, pending,
// done, abandoned, again, errors, source, share_rate, share_slots, share_number, share_fence,
// peak_rate, peak_slots, used_rate, used_slots, told, fence, saved_at, measured and behind.
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

// ScanSums reads what the shards of one of some sweeps have stored in all, and gives it
// to the sweep: sweep, total, marked, done, abandoned, again, errors, in_window and
// measured.
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

// SetSums gives a sweep what its shards have stored in all.
func SetSums(s *sweep.Record, sums sweep.Progress) {
	if !s.Cut {
		sums.Total = s.Total
	}
	if s.State != sweep.Running {
		sums.Rate = 0
	}
	s.Progress = sums
}

// OrdersOf returns the answer to a checkpoint, given the numbers of done and abandoned
// items over all shards, without items that wait for a retry.
func OrdersOf(s *sweep.Record, share sweep.Share, done, abandoned int64) sweep.Orders {
	return sweep.Orders{Stop: s.State != sweep.Running, Share: share, Data: s.Data, Left: s.BudgetLeft(done, abandoned)}
}

// AgainAfter is how many items of a shard wait to be tried again after a checkpoint.
func AgainAfter(c *sweep.Checkpoint) int64 {
	if c.Ended {
		return 0
	}
	return c.Again
}

// ShardLost is the ErrLeaseLost of a job that does not go over a shard any more.
func ShardLost(c *sweep.Checkpoint) error {
	return fmt.Errorf("job %d, shard %d of sweep %d: %w", c.Job, c.Number, c.Sweep, fairlead.ErrLeaseLost)
}

// BehindMark is the ErrConflict of a mark that is behind the stored one.
func BehindMark(c *sweep.Checkpoint) error {
	return fmt.Errorf("shard %d of sweep %d has progressed beyond %d: %w", c.Number, c.Sweep, c.Mark, fairlead.ErrConflict)
}

// ShardBusy is the ErrConflict of a sweep that cannot be cut anew.
func ShardBusy(s *sweep.Shard, state fairlead.State) error {
	return fmt.Errorf("shard %d of sweep %d cannot be split again: its job %d is %s: %w", s.Number, s.Sweep, s.Job, state, fairlead.ErrConflict)
}

// NoSuchShard is the ErrNotFound of a number that no shard of a sweep has.
func NoSuchShard(sweep int64, number int) error {
	return fmt.Errorf("shard %d of sweep %d: %w", number, sweep, fairlead.ErrNotFound)
}
