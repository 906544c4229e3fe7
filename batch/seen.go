package batch

import (
	"context"
	"math"
	"time"
)

// SeenFor is the maximum age of a cached count of running tasks that callers receive.
const SeenFor = time.Second

const (
	seenEvery = SeenFor / 4 // between two counts
	manyEnded = 100         // tasks since the last look: their number is another one when it is read
)

// Seen is a cached count of the running tasks of a batch, taken under the batch's lock.
// It is used while many tasks end: counting would then slow down all callers, who can
// do with a count that is a moment old.
type Seen struct {
	At      time.Time // time of the count; zero if none was taken
	Forward int
	Retry   int
	Undo    int
}

// Told reports whether the cached count may be served. It returns false after the clock
// moves backwards, because the cache could otherwise be served for a long time.
func (s *Seen) Told(now time.Time) bool { return s.age(now) < SeenFor }

func (s *Seen) age(now time.Time) time.Duration {
	if now.Before(s.At) {
		return math.MaxInt64
	}
	return now.Sub(s.At)
}

// Of returns the number of tasks that belong to passes of a kind.
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
