package sweep

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// IsShardKind reports whether jobs of a kind go over shards of sweeps.
func IsShardKind(kind string) bool { return reserved.IsShard(kind) }

// endless is longer than any shard runs.
const endless = 100 * 365 * 24 * time.Hour

// ShardOptions are how jobs that go over shards are handled, by a node or a remote
// worker. They take as long as the shard does, and a store that is out of reach for
// long must not end it.
func ShardOptions() fairlead.HandlerOptions {
	return fairlead.HandlerOptions{
		TimeoutOf:   func(*fairlead.Job) time.Duration { return endless },
		MaxAttempts: 1000, Retry: fairlead.Fixed(5 * time.Second),
	}
}

// ShardRetries lists the items of a shard, from an index on, that failed and are to
// be tried again.
func ShardRetries(ctx context.Context, store Store, shard Shard, from int64, most int) ([]int64, error) {
	items, err := store.FailedItems(ctx, ItemFilter{
		Sweep: shard.Sweep, From: true, After: max(from, shard.From) - 1, Below: shard.To, Again: true, Limit: most,
	})
	if err != nil {
		return nil, err
	}
	indexes := make([]int64, len(items))
	for i := range items {
		indexes[i] = items[i].Index
	}
	return indexes, nil
}

// Of is the sweep whose shard a job goes over; zero: it is another job.
func Of(job *fairlead.Job) int64 {
	var args ShardArgs
	if !IsShardKind(job.Kind) || json.Unmarshal(job.Args, &args) != nil {
		return 0
	}
	return args.Sweep
}
