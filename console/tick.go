package console

import (
	"context"
	"sync"
	"time"
)

// tickLength is how long what was read counts as what is, and how often open pages are
// brought up to date.
const tickLength = 2 * time.Second

// tickOf numbers the ticks. They begin at the same moments for all viewers.
func tickOf(now time.Time) int64 { return now.UnixNano() / int64(tickLength) }

// untilNextTick is how long the current tick still lasts.
func untilNextTick(now time.Time) time.Duration {
	return time.Unix(0, (tickOf(now)+1)*int64(tickLength)).Sub(now)
}

// perTick makes each value once per tick, for all who ask for it. The zero value is
// ready.
type perTick[V any] struct {
	mu      sync.Mutex
	tick    int64
	entries map[string]*made[V]
}

// made is a value that was made in this tick or is being made.
type made[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// makePatience bounds how long a value may take. It is not bound to the one who asked
// first: others wait for the value too.
const makePatience = 20 * time.Second

// get returns the value of a key, which make makes if it is the first to be asked for it
// in this tick.
func (p *perTick[V]) get(ctx context.Context, now time.Time, key string, make func(context.Context) (V, error)) (V, error) {
	entry, first := p.entry(tickOf(now), key)
	if first {
		go func() { // ends with make, within makePatience
			defer close(entry.done)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
			defer cancel()
			entry.value, entry.err = make(ctx)
		}()
	}
	select {
	case <-entry.done:
		return entry.value, entry.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

func (p *perTick[V]) entry(tick int64, key string) (entry *made[V], first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tick < tick || p.entries == nil { // one who comes late is served what is newer
		p.tick, p.entries = tick, map[string]*made[V]{}
	}
	if entry, there := p.entries[key]; there {
		return entry, false
	}
	entry = &made[V]{done: make(chan struct{})}
	p.entries[key] = entry
	return entry, true
}
