package engine

import (
	"sync/atomic"
	"time"
)

// lease is a node's own view of its right to run jobs: until when it may
// believe that no other node has taken its jobs. It counts from before the last
// acknowledged beat was sent, so that the answer's travel time cannot
// stretch it, and ends a margin early.
type lease struct {
	length time.Duration // lease minus margin
	origin time.Time     // carries the monotonic clock
	until  atomic.Int64  // nanoseconds after origin
}

func newLease(length time.Duration, sent time.Time) *lease {
	l := &lease{length: length, origin: sent}
	l.extend(sent)
	return l
}

// extend is called with the time before an acknowledged beat was sent.
func (l *lease) extend(sent time.Time) { l.until.Store(int64(sent.Sub(l.origin) + l.length)) }

// end makes the lease invalid at once.
func (l *lease) end() { l.until.Store(-1) }

// left is how long the lease is still valid.
func (l *lease) left() time.Duration { return time.Duration(l.until.Load()) - time.Since(l.origin) }

// endsAt is when it ends.
func (l *lease) endsAt() time.Time { return l.origin.Add(time.Duration(l.until.Load())) }

func (l *lease) valid() bool { return l.left() > 0 }
