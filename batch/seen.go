package batch

import (
	"context"
	"math"
	"time"
)

// SeenFor is the maximum age of a cached running-task count that may be returned to callers.
const SeenFor = time.Second

const (
	seenEvery = SeenFor / 4 // between two counts
	manyEnded = 100         // tasks since the last look: their number is another one when it is read
)

// Seen is a cached count of a batch's running tasks, taken under the batch's lock. It is
// used while many tasks are ending, when a fresh count would slow down all callers. A count
// that is slightly out of date is good enough for them.
type Seen struct {
	At      time.Time // time of the count; zero if none was taken
	Forward int
	Retry   int
	Undo    int
}

// Told reports whether the cached count may be returned at the time now. It returns false
// after the clock has moved backwards, because otherwise the cached count could remain in
// use for a long time.
func (s *Seen) Told(now time.Time) bool { return s.age(now) < SeenFor }

func (s *Seen) age(now time.Time) time.Duration {
	if now.Before(s.At) {
		return math.MaxInt64
	}
	return now.Sub(s.At)
}

// Of returns a pointer to the number of running tasks in passes of the given kind.
func (s *Seen) Of(kind PassKind) *int {
	switch kind {
	case PassRetry:
		return &s.Retry
	case PassUndo:
		return &s.Undo
	}
	return &s.Forward
}

// see counts the running tasks of chunks, if that count is to be served.
func (c *conducting) see(ctx context.Context, chunks []Chunk) error {
	if c.ended < manyEnded || c.Seen.age(c.now) < seenEvery {
		return nil
	}
	seen := Seen{At: c.now}
	for i := range chunks {
		running, err := c.tx.Running(ctx, chunks[i].First, chunks[i].Last())
		if err != nil {
			return err
		}
		*seen.Of(chunks[i].Kind) += running
	}
	c.Seen = seen
	return nil
}
