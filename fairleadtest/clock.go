package fairleadtest

import (
	"sync"
	"time"
)

// Clock is a database clock that advances only when the test asks for it.
type Clock interface {
	Now() time.Time          // Now returns the clock's time.
	Advance(d time.Duration) // Advance moves the clock forward.
}

// begin is the time at which clocks of tests begin.
var begin = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// clock is a time in memory.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the clock's time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
