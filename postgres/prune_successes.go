package postgres

import (
	"context"
	"sync"
	"time"
)

const (
	pruneSlow   = time.Second // a look at the oldest successes that takes longer is seldom repeated
	pruneRest   = 60          // so many times what it took
	pruneAtMost = time.Minute // for how long Prune goes on without looking at the oldest again
)

// pruneCursor is where pruning successes goes on. Removed jobs stay in the index
// until no transaction can see them any more; beside one that is open for hours,
// these are millions, which every look from the beginning reads again. So a look
// that follows one which removed all it could goes on behind it, and if the
// beginning takes long to read, so do those after it for a while. What lies before
// the cursor, because another transaction held it or committed it late, is found
// from the beginning.
type pruneCursor struct {
	mu        sync.Mutex
	after     int64     // when the last removed job ended
	more      bool      // the last look removed as many as it could
	begunAt   time.Time // the last look from the beginning
	restUntil time.Time // no look from the beginning before
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
