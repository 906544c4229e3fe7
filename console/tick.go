package console

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
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
	most int         // values that are shared at once; 0: mostShared
	size func(V) int // bytes of a value; nil: values are small

	mu      sync.Mutex
	tick    int64
	entries map[string]*made[V]
	bytes   int // of all values of this tick
}

// made is a value that was made in this tick or is being made.
type made[V any] struct {
	done    chan struct{}
	value   V
	err     error
	cancel  context.CancelFunc
	waiting int // callers; without one it is not made any further
}

// mostShared is how many values are shared at once. A viewer can ask for any number of
// pages: what is more is made for the one who asks, and not kept.
const mostShared = 2000

// sharedBytes bounds the values that are kept until their tick is over. Larger ones are only
// for those who wait for them already.
const sharedBytes = 16 << 20

// makePatience bounds how long a value may take.
const makePatience = 20 * time.Second

// get returns the value of a key, which build makes if it is the first to be asked for it
// in this tick. The value is for all who wait for it: it is given up only when none of
// them does any more.
func (p *perTick[V]) get(ctx context.Context, now time.Time, key string, build func(context.Context) (V, error)) (V, error) {
	value, _, err := p.share(ctx, now, key, build)
	return value, err
}

// share is get, and reports whether it was this call that had the value made.
func (p *perTick[V]) share(ctx context.Context, now time.Time, key string, build func(context.Context) (V, error)) (value V, own bool, err error) {
	entry, own := p.join(ctx, tickOf(now), key, build)
	defer p.leave(entry)
	select {
	case <-entry.done:
		return entry.value, own, entry.err
	case <-ctx.Done():
		return value, own, ctx.Err()
	}
}

// join waits for an entry, which is begun if there is none.
func (p *perTick[V]) join(ctx context.Context, tick int64, key string, build func(context.Context) (V, error)) (entry *made[V], first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn(tick)
	if entry, there := p.entries[key]; there {
		entry.waiting++
		return entry, false
	}
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
	entry = &made[V]{done: newDone(), cancel: cancel, waiting: 1}
	if len(p.entries) < cmp.Or(p.most, mostShared) {
		p.entries[key] = entry
	}
	go func() { // ends with build, within makePatience
		defer cancel()
		defer close(entry.done)
		defer func() { p.weigh(entry) }()
		defer func() {
			if problem := recover(); problem != nil { // as net/http does: a page is lost, not the node
				entry.err = fmt.Errorf("panic: %v\n%s", problem, debug.Stack())
			}
		}()
		entry.value, entry.err = build(making)
	}()
	return entry, true
}

// weigh forgets a value that was just made if there is no memory to keep it.
func (p *perTick[V]) weigh(entry *made[V]) {
	if p.size == nil || entry.err != nil {
		return
	}
	size := p.size(entry.value)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes+size <= sharedBytes {
		p.bytes += size
		return
	}
	p.remove(entry)
}

func newDone() chan struct{} { return make(chan struct{}) }

// turn forgets the values of earlier ticks, but for those that are still being made: who
// asks for them again need not begin anew. A caller that comes a little late is served
// what is newer; a clock that was set back begins anew.
func (p *perTick[V]) turn(tick int64) {
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

// forget makes every value anew, also those that are being made: who waits for one of
// them gets it, and no other does.
func (p *perTick[V]) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries, p.bytes = nil, 0
}

// leave gives up a value that no caller waits for any more.
func (p *perTick[V]) leave(entry *made[V]) {
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

// remove forgets an entry, if it is kept. p.mu is held.
func (p *perTick[V]) remove(entry *made[V]) {
	for key, other := range p.entries {
		if other == entry {
			delete(p.entries, key)
		}
	}
}
