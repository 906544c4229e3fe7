package sweeping

import (
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/internal/source"
)

// How many items a worker holds at most, and for about how long. Fast handlers
// make fetching one by one the larger part of the work; slow ones must not keep
// others from items.
const (
	mostAtOnce = 128
	holdFor    = 200 * time.Microsecond
)

// worker is a goroutine that handles items one after the other.
type worker struct {
	id       int
	employed bool // under the runner's lock
	busy     bool // has items, or fetches some; under the runner's lock

	read     []source.Item // for the source to fill
	items    []Item        // held; written only while finished is zero
	outcomes []Outcome
	finished atomic.Int32 // of the items, from the start: done, or settled otherwise
	settled  int          // of those, under the runner's lock
	now      time.Time    // when it looked at the clock last
	looped   bool         // it works in a loop
	begun    time.Time    // in a loop: when its item was
}

// hold makes room for items. Most handlers are slow, and their workers many and
// small.
func (w *worker) hold(most int) {
	if len(w.read) < most {
		w.read = make([]source.Item, most)
		w.items = make([]Item, 0, most)
		w.outcomes = make([]Outcome, most)
	}
}

func (r *Runner) work(w *worker) {
	for r.take(w) == some {
		r.handle(w)
	}
}

// handle tries the items that w holds. When the run has halted, it leaves the
// rest as it is: to do.
func (r *Runner) handle(w *worker) {
	start, tried := time.Now(), 0
	w.now = start
	for tried < len(w.items) {
		if r.halted.Load() || !r.mayStart(w.now) && !r.awaitStart() {
			break
		}
		end := min(tried+r.shard.Batch, len(w.items))
		outcomes := w.outcomes[tried:end]
		r.call(w.items[tried:end], outcomes)
		if allDone(outcomes) {
			w.finished.Store(int32(end))
		} else {
			r.settle(w, tried, end)
		}
		tried, w.now = end, time.Now()
	}
	r.release(w, tried, w.now.Sub(start))
}

func (r *Runner) call(items []Item, outcomes []Outcome) {
	defer func() {
		if value := recover(); value != nil {
			failed := panicked(value, debug.Stack())
			for i := range outcomes {
				outcomes[i] = failed
			}
		}
	}()
	if r.shard.Handle != nil {
		outcomes[0] = r.shard.Handle(r.handling, items[0])
		return
	}
	clear(outcomes)
	r.shard.HandleBatch(r.handling, items, outcomes)
}

func allDone(outcomes []Outcome) bool {
	for i := range outcomes {
		if outcomes[i].Verdict != Done || len(outcomes[i].Logs) > 0 {
			return false
		}
	}
	return true
}

// release takes stock when w has no more to do with its items.
func (r *Runner) release(w *worker, tried int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collect(w)
	w.finished.Store(0)
	w.settled = 0
	w.busy = false
	if tried == 0 {
		return
	}
	r.load.Tries += int64(tried)
	r.load.Latency += took
	if each := took / time.Duration(tried); each > r.speed {
		r.speed = each
	} else {
		r.speed = (7*r.speed + each) / 8
	}
}

func (r *Runner) leased(now time.Time) bool {
	return r.shard.Lease == nil || now.Before(r.shard.Lease())
}

// mayStart reports whether an item may be started now.
func (r *Runner) mayStart(now time.Time) bool {
	return r.leased(now) && (r.shard.Fresh == nil || now.Before(r.shard.Fresh()))
}

// glance is how often a lease that is over is looked at: it may have been renewed
// late. So may orders.
const glance = 20 * time.Millisecond

// awaitStart waits until an item may be started. It returns false if the run has
// halted before. What could not be started meanwhile is not made up for: others may have
// had the rate.
func (r *Runner) awaitStart() bool {
	waited := false
	for !r.mayStart(time.Now()) {
		waited = true
		if pause(r.fetching, glance) != nil {
			return false
		}
	}
	if waited {
		r.pace.Forget()
	}
	return !r.halted.Load()
}
