package fairlead

import "math"

// percentFrom is from how many items on a percentage counts.
const percentFrom = 1000

// BudgetLeft is how many more items may come to nothing before the sweep stops, if so
// many have been done and have come to nothing over all its shards, without those that
// wait to be tried again; negative: there is no bound.
func (s *Sweep) BudgetLeft(done, abandoned int64) int64 {
	left, taken := int64(-1), max(0, abandoned-s.Forgiven)
	if s.Budget.Items > 0 {
		left = max(0, s.Budget.Items-taken)
	}
	if seen := done + abandoned; s.Budget.Percent > 0 && seen >= percentFrom {
		allowed := int64(math.Ceil(s.Budget.Percent / 100 * float64(seen)))
		if l := max(0, allowed-taken); left < 0 || l < left {
			left = l
		}
	}
	return left
}

// ProgressOf sums up how far the shards of a sweep have come.
func ProgressOf(s *Sweep, shards []Shard) SweepProgress {
	var p SweepProgress
	if !s.Cut && s.To > 0 {
		p.Total = s.To - s.From
	}
	for i := range shards {
		sh := &shards[i]
		if sh.To > 0 {
			p.Total += sh.To - sh.From
		}
		p.Marked += sh.Mark - sh.From
		p.Done += sh.Done
		p.Abandoned += sh.Abandoned
		p.Again += sh.Again
		p.Errors += sh.Errors
		p.InWindow += max(0, sh.Done+sh.Abandoned-(sh.Mark-sh.From))
		if s.State == SweepRunning && !sh.Ended {
			p.Rate += sh.Measured
		}
	}
	return p
}
