package postgres

import (
	"context"
	"sync"
	"time"
)

const (
	pruneSlow   = time.Second // a search from the oldest success that takes longer is repeated less often
	pruneRest   = 60          // the next one waits this many times as long as it took
	pruneAtMost = time.Minute // the longest time that Prune goes without a search from the oldest
)

// pruneCursor is where pruning of successes continues. Removed jobs stay in the index
// until no transaction can see them any more. Beside a transaction that is open for
// hours these are millions, which every search from the beginning reads again. So a
// search that follows one which removed all it could continues behind it. If the
// beginning takes long to read, the following searches continue there as well, for a
// while. A search from the beginning finds what lies before the cursor because another
// transaction had locked it or committed it late.
type pruneCursor struct {
	mu        sync.Mutex
	after     int64     // when the last removed job ended
	more      bool      // the last search removed as many as it could
	begunAt   time.Time // the last search from the beginning
	restUntil time.Time // no search from the beginning before this time
}

func (s *Store) pruneSuccesses(ctx context.Context, retention time.Duration, limit int) (int, error) {
	c := &s.pruned
	c.mu.Lock()
	defer c.mu.Unlock()
	now, after := time.Now(), c.after
	beginning := !now.Before(c.restUntil) && (!c.more || now.Sub(c.begunAt) > pruneAtMost)
	if beginning {
		after = 0
	}
	n, last, err := s.remove(ctx, call{sql: s.sql.PruneSuccesses, args: []any{limit, retention.Microseconds(), after}})
	if beginning {
		c.begunAt = now
		if took := time.Since(now); took > pruneSlow {
			c.restUntil = time.Now().Add(pruneRest * took)
		}
	}
	c.more = n == limit
	if n > 0 {
		c.after = last
	}
	return n, err
}
