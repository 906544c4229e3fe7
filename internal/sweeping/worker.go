package sweeping

import (
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/internal/source"
)

// The maximum number of items that a worker holds, and the approximate time for which it
// holds them. With fast handlers, fetching items one by one would be most of the work; slow
// handlers must not keep items from others.
const (
	mostAtOnce = 128
	holdFor    = 200 * time.Microsecond
)

// worker is a goroutine that handles items sequentially.
type worker struct {
	id       int
	employed bool // guarded by the runner's lock
	busy     bool // has items or is fetching some; guarded by the runner's lock

	read     []source.Item // filled by the source
	items    []Item        // held items; written only while finished is zero
	outcomes []Outcome
	finished atomic.Int32 // number of leading items that are done or otherwise settled
	settled  int          // number of those already settled, guarded by the runner's lock
	now      time.Time    // time of the last clock reading
	looped   bool         // works in a loop
	begun    time.Time    // in a loop: start of its item
}

// hold makes room for items. It allocates as few as possible: most handlers are slow, and
// their workers are numerous.
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

// handle tries the items that w holds. If the run halts, the rest stay unfinished.
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

// release settles w's items after w has stopped working on them.
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

// mayStart reports whether an item may start now.
func (r *Runner) mayStart(now time.Time) bool {
	return r.leased(now) && (r.shard.Fresh == nil || now.Before(r.shard.Fresh()))
}

// glance is the interval at which an expired lease or expired orders are checked, because
// they may be renewed late.
const glance = 20 * time.Millisecond

// awaitStart waits until an item may start. It returns false if the run halts first. Starts
// missed in the meantime are not made up for, because other shards may have used the rate.
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
