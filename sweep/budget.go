package sweep

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// percentFrom is from how many items on a percentage counts.
const percentFrom = 1000

// How a minute is measured: by how many items had failed, noted every few seconds. What a
// node knows of what is left may be a while old, so the minute counts as less than a
// minute.
const (
	failingEvery = 5 * time.Second
	failingSpan  = 55 * time.Second
)

// BudgetLeft returns how many more items may fail before the sweep stops. done and abandoned
// are the numbers of done and abandoned items in all shards, excluding items that wait for a
// retry. A negative result means unlimited.
func (r *Record) BudgetLeft(done, abandoned int64) int64 {
	left, taken := int64(-1), max(0, abandoned-r.Forgiven)
	bound := func(allowed, taken int64) {
		if l := max(0, allowed-taken); left < 0 || l < left {
			left = l
		}
	}
	if r.Budget.Items > 0 {
		bound(r.Budget.Items, taken)
	}
	if seen := max(0, done-r.Earlier) + taken; r.Budget.Percent > 0 && seen >= percentFrom {
		bound(int64(math.Ceil(r.Budget.Percent/100*float64(seen))), taken)
	}
	if r.Budget.PerMinute > 0 {
		before := r.Forgiven
		if len(r.Lately) > 0 {
			before = r.Lately[0].Items
		}
		bound(r.Budget.PerMinute, max(0, abandoned-before))
	}
	return left
}

// overspent says why the budget is used up.
func (r *Record) overspent(abandoned int64) string {
	if len(r.Lately) > 0 && abandoned-r.Lately[0].Items >= r.Budget.PerMinute {
		return fmt.Sprintf("%d items failed within a minute", abandoned-r.Lately[0].Items)
	}
	return fmt.Sprintf("%d items failed", abandoned-r.Forgiven)
}

// watchFailing notes how many items have failed by now, and forgets what is
// no part of this minute any more.
func (r *Record) watchFailing(now time.Time, abandoned int64) {
	if r.Budget.PerMinute == 0 {
		r.Lately = nil
		return
	}
	r.Lately = slices.Clone(r.Lately) // what was stored is compared with it
	if n := len(r.Lately); n == 0 || now.Sub(r.Lately[n-1].At) >= failingEvery {
		r.Lately = append(r.Lately, Failing{At: now, Items: abandoned})
	}
	r.Lately = slices.DeleteFunc(r.Lately, func(f Failing) bool { return now.Sub(f.At) > failingSpan })
}

// ProgressOf returns a sweep's progress, which is the sum of its shards' progress.
func ProgressOf(r *Record, shards []Shard) Progress {
	var p Progress
	if !r.Cut && r.To > 0 {
		p.Total = r.To - r.From
	}
	for i := range shards {
		sh := &shards[i]
		if sh.To > 0 {
			p.Total += sh.To - sh.From
		}
		marked := sh.Mark - sh.Behind - sh.From
		p.Marked += marked
		p.Done += sh.Done
		p.Abandoned += sh.Abandoned
		p.Again += sh.Again
		p.Errors += sh.Errors
		p.InWindow += max(0, sh.Done+sh.Abandoned-marked)
		if r.State == Running && !sh.Ended {
			p.Rate += sh.Measured
		}
	}
	return p
}
