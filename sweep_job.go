package fairlead

import (
	"strings"
	"time"
)

// IsShardKind tells whether jobs of a kind go over shards of sweeps.
func IsShardKind(kind string) bool {
	return strings.HasPrefix(kind, SweepKind("")) && kind != GateKind
}

// endless is longer than any shard runs.
const endless = 100 * 365 * 24 * time.Hour

// ShardOptions are how jobs that go over shards are handled, by a node or a remote
// worker. They take as long as the shard does, and a store that is out of reach for
// long must not end it.
func ShardOptions() HandlerOptions {
	return HandlerOptions{
		TimeoutOf:   func(*Job) time.Duration { return endless },
		MaxAttempts: 1000, Retry: Fixed(5 * time.Second),
	}
}
