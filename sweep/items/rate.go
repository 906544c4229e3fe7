package items

import (
	"context"
	"time"
)

const (
	// handOver is for how long the share of a shard is kept for the node that takes it up.
	handOver = time.Second
	// mostOwed is how much of that is made up for. If it took longer, half of it is missing
	// at first, and half of it is too much later: both is less than all of it.
	mostOwed = handOver / 2
)

// owed is how many items the run may begin beyond its rate, because no run began any
// while the shard came from another node. After a crash, or an error, that is none: others
// may have had the rate.
//
// When the last item was begun is not stored. On average half of the time to the next is
// over. The first runs of shards begin one after the other, so that items come evenly.
func (r *Run) owed(rate float64) float64 {
	if rate == 0 {
		return 0
	}
	ahead := 0.5
	if shards := max(1, r.Sweep.Shards); r.shard.Fence == 0 {
		ahead = float64(r.shard.Number%shards) / float64(shards)
	}
	second := rate * handOver.Seconds() // the first item does not wait for longer, however slow the rate is
	return rate*r.idle().Seconds() - min(ahead, second)
}

// idle is how long the shard had no run, if the one before gave it back. When a sweep
// begins shards may go to and fro: that is no part of its time at the rate.
func (r *Run) idle() time.Duration {
	if r.shard.Fence == 0 || r.Job.Attempt > 1 || r.Job.Crashes > 0 || r.shard.SavedAt.Before(r.Job.CreatedAt.Add(handOver)) {
		return 0
	}
	// Of the two instants of the database both are by its clock.
	onTheWay := max(0, r.Job.StartedAt.Sub(r.shard.SavedAt))
	return min(onTheWay+time.Since(r.begun), mostOwed)
}

// mostSought is how often in a row a run looks for more of the rate. Then it leaves that
// to nodes, which look at every sweep now and then. For the first half of it the looks
// come one soon after the other: until then no run has what others have given up.
const mostSought = 20

// seekShare looks at the sweep if the run has less than an even share of the rate: others
// may have heard by now that theirs is smaller.
func (r *Run) seekShare(ctx context.Context) {
	if !r.lacksShare() {
		r.sought = 0
		return
	}
	if r.sought++; r.sought > mostSought {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.book.Steer(ctx); err != nil {
		r.handler.options.Logger.Debug("sweep check failed", "sweep", r.Sweep.ID, "error", err)
	}
}

// lacksShare reports whether the run has less than an even share of the rate.
func (r *Run) lacksShare() bool {
	even := r.Sweep.Rate / float64(max(1, r.Sweep.Shards))
	const nearly = 0.99
	return r.told.InFlight == 0 || r.told.Rate != 0 && r.told.Rate < nearly*even
}
