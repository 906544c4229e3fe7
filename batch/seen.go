package batch

import (
	"context"
	"math"
	"time"
)

// SeenFor is how long a count of running tasks is served to callers.
const SeenFor = time.Second

const (
	seenEvery = SeenFor / 4 // between two counts
	manyEnded = 100         // tasks since the last look: their number is another one when it is read
)

// Seen is how many tasks of a batch ran when they were last counted under its lock.
// That is done while many of them end: counting would slow all callers down then, and
// no caller could tell that what they see is a moment old.
type Seen struct {
	At      time.Time // zero: they were never counted
	Forward int
	Retry   int
	Undo    int
}

// Told reports whether the last count may be served instead of counting again. It is
// false after the clock moved backwards, because the count could then be served for a
// long time.
func (s *Seen) Told(now time.Time) bool { return s.age(now) < SeenFor }

func (s *Seen) age(now time.Time) time.Duration {
	if now.Before(s.At) {
		return math.MaxInt64
	}
	return now.Sub(s.At)
}

// Of is the number of those that belong to passes of a kind.
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
