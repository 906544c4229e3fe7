// Package shared computes values once for all viewers.
package shared

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// TickLength is the time for which data counts as current, and the interval at which open pages are
// updated.
const TickLength = 2 * time.Second

// TickOf returns the number of a tick. Ticks begin at the same times for all viewers.
func TickOf(now time.Time) int64 { return now.UnixNano() / int64(TickLength) }

// UntilNextTick returns the remaining duration of the current tick.
func UntilNextTick(now time.Time) time.Duration {
	return time.Unix(0, (TickOf(now)+1)*int64(TickLength)).Sub(now)
}

// PerTick computes each value once per tick, for all callers that request it. The zero
// value is ready to use.
type PerTick[V any] struct {
	MaxEntries int         // maximum number of shared values; 0 = mostShared
	Size       func(V) int // size of a value in bytes; nil = values are small

	mu      sync.Mutex
	tick    int64
	entries map[string]*made[V]
	bytes   int // total size of the values of this tick
}

// made is a value computed in this tick, or in progress.
type made[V any] struct {
	done    chan struct{}
	value   V
	err     error
	cancel  context.CancelFunc
	waiting int // number of waiting callers; without any, the computation is cancelled
}

// mostShared limits the number of shared values. A viewer can request any number of pages:
// further values are computed only for their caller, without caching.
const mostShared = 2000

// sharedBytes limits the total size of the values cached until the end of their tick.
// Larger ones are only returned to callers already waiting for them.
const sharedBytes = 16 << 20

// makePatience is the timeout for computing a value.
const makePatience = 20 * time.Second

// Get returns the value of a key. The first caller in a tick makes build compute it, and
// all waiting callers get the same value. The computation is cancelled only when no caller
// waits any more.
func (p *PerTick[V]) Get(ctx context.Context, now time.Time, key string, build func(context.Context) (V, error)) (V, error) {
	value, _, err := p.Share(ctx, now, key, build)
	return value, err
}

// Share does the same as get, and also reports whether this call started the computation.
func (p *PerTick[V]) Share(ctx context.Context, now time.Time, key string, build func(context.Context) (V, error)) (value V, own bool, err error) {
	entry, own := p.join(ctx, TickOf(now), key, build)
	defer p.leave(entry)
	select {
	case <-entry.done:
		return entry.value, own, entry.err
	case <-ctx.Done():
		return value, own, ctx.Err()
	}
}

// join waits for an entry, and starts it if necessary.
func (p *PerTick[V]) join(ctx context.Context, tick int64, key string, build func(context.Context) (V, error)) (entry *made[V], first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(tick)
	if entry, there := p.entries[key]; there {
		entry.waiting++
		return entry, false
	}
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
	entry = &made[V]{done: newDone(), cancel: cancel, waiting: 1}
	if len(p.entries) < cmp.Or(p.MaxEntries, mostShared) {
		p.entries[key] = entry
	}
	go func() { // ends with build, after makePatience at the latest
		defer cancel()
		defer close(entry.done)
		defer func() { p.weigh(entry) }()
		defer func() {
			if problem := recover(); problem != nil { // like net/http: the page fails, not the node
				entry.err = fmt.Errorf("panic: %v\n%s", problem, debug.Stack())
			}
		}()
		entry.value, entry.err = build(making)
	}()
	return entry, true
}

// weigh drops a value that was just computed if there is no memory to cache it.
func (p *PerTick[V]) weigh(entry *made[V]) {
	if p.Size == nil || entry.err != nil {
		return
	}
	size := p.Size(entry.value)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes+size <= sharedBytes {
		p.bytes += size
		return
	}
	p.remove(entry)
}

func newDone() chan struct{} { return make(chan struct{}) }

// turn drops the values of earlier ticks, except those still being computed, so that new
// requests for them need not start over. A slightly late caller gets a newer value. After
// the clock moves backwards, all values are dropped.
func (p *PerTick[V]) turn(tick int64) {
	if p.entries != nil && p.tick-1 <= tick && tick <= p.tick {
		return
	}
	kept := map[string]*made[V]{}
	for key, entry := range p.entries {
		select {
		case <-entry.done:
		default:
			kept[key] = entry
		}
	}
	p.tick, p.entries, p.bytes = tick, kept, 0
}

// Forget drops all values, including those being computed: only callers already waiting for
// them get these.
func (p *PerTick[V]) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries, p.bytes = nil, 0
}

// leave cancels a computation that no caller waits for any more.
func (p *PerTick[V]) leave(entry *made[V]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry.waiting--
	select {
	case <-entry.done:
		return
	default:
	}
	if entry.waiting > 0 {
		return
	}
	entry.cancel()
	p.remove(entry)
}

// remove drops an entry, if it is cached. The caller must hold p.mu.
func (p *PerTick[V]) remove(entry *made[V]) {
	for key, other := range p.entries {
		if other == entry {
			delete(p.entries, key)
		}
	}
}
