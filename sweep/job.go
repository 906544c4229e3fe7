package sweep

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// IsShardKind reports whether jobs of this kind process sweep shards.
func IsShardKind(kind string) bool { return reserved.IsShard(kind) }

// endless is longer than any shard runs.
const endless = 100 * 365 * 24 * time.Hour

// ShardOptions returns the handler options for jobs that process shards, on nodes and remote
// workers. These jobs run as long as their shards take, and survive long outages of the
// store.
func ShardOptions() fairlead.HandlerOptions {
	return fairlead.HandlerOptions{
		TimeoutOf:   func(*fairlead.Job) time.Duration { return endless },
		MaxAttempts: 1000, Retry: fairlead.Fixed(5 * time.Second),
	}
}

// ShardRetries returns the indexes of a shard's failed items that wait for a retry: no more
// than most indexes, starting at from.
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

// Of returns the ID of the sweep whose shard the job processes. It returns zero if the job
// does not process a shard.
func Of(job *fairlead.Job) int64 {
	var args ShardArgs
	if !IsShardKind(job.Kind) || json.Unmarshal(job.Args, &args) != nil {
		return 0
	}
	return args.Sweep
}
