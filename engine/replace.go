package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	replaceBatch   = 50                     // settlements per write, at most
	replaceTry     = 500 * time.Millisecond // how long a first write may take
	replaceLongest = 10 * time.Second       // how long any write may take, whatever the lease
)

// replacer writes the ends of runs whose successor has a key. A transaction of a caller
// may hold that key for as long as it is open, and the store waits for it. Therefore no
// write takes long, a run whose key may be held is put off and tried again alone, and
// runs whose keys are not known to be held go first.
type replacer struct {
	life *life
	*backlog
	wake chan struct{}

	mu      sync.Mutex
	fresh   []ending
	held    map[string]*heldKey // by key
	closing bool                // no more will come
}

// heldKey is a key that may be held, and the runs that want it, in the order in which
// they ended. Only the first of them is tried. Only the loop uses the other fields.
type heldKey struct {
	name     string
	endings  []ending      // under the replacer's mu
	due      time.Time     // of the next try
	pause    time.Duration // after that
	try      time.Duration // how long it may take
	tries    int
	refusals int  // of a store that answers, in a row
	answers  bool // whether the store answered after the last try
}

func newReplacer(l *life) *replacer {
	return &replacer{life: l, backlog: newBacklog(l), wake: make(chan struct{}, 1), held: map[string]*heldKey{}}
}

// keyOf names the key of a run's successor.
func keyOf(e ending) string {
	next := e.settlement.Replace
	return next.Tenant + "\x00" + next.Kind + "\x00" + next.Key
}

func (r *replacer) add(e ending) {
	r.backlog.add(e)
	r.mu.Lock()
	if k := r.held[keyOf(e)]; k != nil {
		k.endings = append(k.endings, e)
	} else {
		r.fresh = append(r.fresh, e)
	}
	r.mu.Unlock()
	r.poke()
}

func (r *replacer) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// finish makes run return once all is written, or at the first failure if the lease is
// lost.
func (r *replacer) finish() {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.poke()
}

// run writes until all is written after finish, or until ctx ends. It then releases
// what is left, if the lease is valid: others can run those jobs at once, and the node
// did not crash.
func (r *replacer) run(ctx context.Context) {
	pause := settleFirst
	for ctx.Err() == nil {
		batch, closing := r.takeFresh()
		if len(batch) > 0 {
			if r.writeFresh(ctx, batch) {
				pause = settleFirst
			} else if sleep(ctx, pause) == nil {
				pause = min(2*pause, settleSlowest)
			}
		}
		if r.givenUp() {
			r.drop(r.takeHeld())
		}
		k, next := r.nextHeld(time.Now())
		switch {
		case k != nil:
			r.writeHeld(ctx, k)
		case len(batch) > 0:
		case closing && next < 0:
			return
		default:
			idle(ctx, r.wake, next)
		}
	}
	r.release(ctx, r.takeAll())
}

// givenUp reports whether the lease is gone: the jobs belong to others then.
func (r *replacer) givenUp() bool { return !r.life.lease.valid() }

func (r *replacer) takeFresh() ([]ending, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.fresh), replaceBatch)
	batch := r.fresh[:n:n]
	if r.fresh = r.fresh[n:]; len(r.fresh) == 0 {
		r.fresh = nil
	}
	return batch, r.closing
}

// takeAll takes all that is not written.
func (r *replacer) takeAll() []ending {
	held := r.takeHeld()
	r.mu.Lock()
	defer r.mu.Unlock()
	all := append(held, r.fresh...)
	r.fresh = nil
	return all
}

func (r *replacer) takeHeld() (all []ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.held {
		all = append(all, k.endings...)
	}
	clear(r.held)
	return all
}

// nextHeld is the key to try now: of those that are due the one that was tried least, so
// that keys which are not held after all need not wait for those which are. If none is
// due it returns how long to wait, which is negative if there is none at all.
func (r *replacer) nextHeld(now time.Time) (best *heldKey, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait = -1
	for _, k := range r.held {
		switch left := k.due.Sub(now); {
		case left > 0:
			if wait < 0 || left < wait {
				wait = left
			}
		case best == nil || k.tries < best.tries || k.tries == best.tries && k.due.Before(best.due):
			best = k
		}
	}
	return best, wait
}

// errRunHeld is the error of a write that left runs whose jobs a transaction holds.
var errRunHeld = fmt.Errorf("%w: an open transaction holds the job", fairlead.ErrUnavailable)

// settle writes once and returns the runs that are not written.
func (r *replacer) settle(ctx context.Context, batch []ending, try time.Duration) (left []ending, err error) {
	settled, err := r.life.settleWithin(ctx, batch, try)
	if err != nil {
		r.life.log.Warn("settlements not written yet: a key may be held by an open transaction", "jobs", len(batch), "error", err)
		return batch, err
	}
	written, answers, left := partHeld(batch, settled)
	r.over(written)
	r.life.acknowledge(written, answers)
	if len(left) > 0 {
		r.life.logOf(left[0].run.job).Warn("settlements not written yet: an open transaction holds the job", "jobs", len(left))
		return left, errRunHeld
	}
	return nil, nil
}

// writeFresh writes runs of which it is not known that their keys are held. If that
// fails and the store works, it puts them off. It reports false if the store does not
// answer.
func (r *replacer) writeFresh(ctx context.Context, batch []ending) bool {
	batch, err := r.settle(ctx, batch, replaceTry)
	if err == nil {
		return true
	}
	if !r.givenUp() && !r.life.answers(ctx) {
		r.mu.Lock()
		r.fresh = append(slices.Clone(batch), r.fresh...)
		r.mu.Unlock()
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	put := func(e ending) {
		k := r.held[keyOf(e)]
		if k == nil {
			k = &heldKey{name: keyOf(e), due: now, pause: settleFirst, try: replaceTry}
			r.held[k.name] = k
		}
		k.endings = append(k.endings, e)
	}
	for _, e := range batch {
		put(e)
	}
	// What came meanwhile goes behind what wants the same key.
	r.fresh = slices.DeleteFunc(r.fresh, func(e ending) bool {
		if r.held[keyOf(e)] == nil {
			return false
		}
		put(e)
		return true
	})
	return true
}

// writeHeld tries the first run that wants a key.
func (r *replacer) writeHeld(ctx context.Context, k *heldKey) {
	r.mu.Lock()
	first := k.endings[0]
	r.mu.Unlock()
	_, err := r.settle(ctx, []ending{first}, k.try)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if k.endings = k.endings[1:]; len(k.endings) == 0 {
			delete(r.held, k.name)
		}
		*k = heldKey{name: k.name, endings: k.endings, due: time.Now(), pause: settleFirst, try: k.try}
		return
	}
	r.life.freeSolo(first.run) // nothing of it runs any more, however long it waits
	// As for any settlement, only a store that answered before a write and after it
	// has refused it.
	answered := k.answers
	if k.answers = r.life.answers(ctx); answered && k.answers && !errors.Is(err, fairlead.ErrUnavailable) {
		k.refusals++
	} else {
		k.refusals = 0
	}
	if k.refusals >= settleTries {
		first.settlement = unstorable(first.settlement, err)
		r.mu.Lock()
		k.endings[0] = first
		r.mu.Unlock()
	}
	k.tries++
	k.due, k.pause = time.Now().Add(k.pause), min(2*k.pause, settleSlowest)
	k.try = min(2*k.try, replaceLongest, max(replaceTry, r.life.options.Lease/4))
}
