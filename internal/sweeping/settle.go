package sweeping

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead/internal/descriptors"
)

// collect settles the items that w has finished and not yet reported. No other function
// accesses the items of a worker that may be running.
func (r *Runner) collect(w *worker) {
	r.collectTo(w, int(w.finished.Load()))
}

func (r *Runner) collectTo(w *worker, finished int) {
	if finished <= w.settled {
		return // w may be about to take other items
	}
	done := w.items[w.settled:finished]
	first, last := done[0].Index, done[len(done)-1].Index
	if len(r.aside.all) == 0 && last-first == int64(len(done)-1) {
		r.window.DoneRange(first, last+1)
	} else {
		for i := range done {
			r.madeGood(done[i].Index)
			r.settleDone(done[i].Index)
		}
	}
	r.counts.Done += int64(len(done))
	w.settled = finished
	r.news()
}

// settle processes the outcomes of w's items [from, to), some of which are not simply done.
func (r *Runner) settle(w *worker, from, to int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectTo(w, from)
	for i := from; i < to; i++ {
		r.settleOne(w.items[i], w.outcomes[i])
	}
	w.settled = to
	w.finished.Store(int32(to))
	r.news()
}

// news wakes the goroutine that waits for something to be settled.
func (r *Runner) news() {
	if !r.idle {
		return
	}
	r.idle = false
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Runner) settleOne(item Item, outcome Outcome) {
	record := record{Record: Record{Index: item.Index, Logs: outcome.Logs}}
	switch outcome.Verdict {
	case Done:
		record.then = thenDone
	case Retry:
		if descriptors.Exhausted(outcome.Err) { // another node may have file descriptors
			r.leaveToDo(item)
			r.haltLocked(Ending{End: Released, Err: outcome.Err})
			record.then = thenNothing
			break
		}
		r.load.Errors++
		if r.handling.Err() != nil {
			record.then = thenNothing // interrupted, which is not the item's fault
			break
		}
		if item.Attempt < r.shard.Attempts {
			r.later(item, outcome)
			record.then = thenNothing
			break
		}
		if !r.afford(item) {
			r.leaveToDo(item)
			record.then = thenNothing
			break
		}
		record.failure, record.exhausted, record.then = failureOf(item, outcome), true, thenAbandoned
	case Abandon:
		record.failure, record.then = failureOf(item, outcome), thenAbandoned
	case Stop:
		r.leaveToDo(item)
		r.haltLocked(Ending{End: Stopped, Reason: fmt.Sprintf("item %d: %v", item.Index, outcome.reason())})
		record.then = thenNothing
	case Finish:
		if !r.shard.Serial {
			r.leaveToDo(item)
			r.haltLocked(Ending{End: Stopped, Reason: fmt.Sprintf("item %d finishes the sweep, but only an item of a serial sweep can do so", item.Index)})
			record.then = thenNothing
			break
		}
		r.haltLocked(Ending{End: Finished})
		record.then = thenDone
	default:
		r.leaveToDo(item)
		r.haltLocked(Ending{End: Stopped, Reason: fmt.Sprintf("item %d: the handler returned the unknown verdict %d", item.Index, outcome.Verdict)})
		record.then = thenNothing
	}
	if len(record.Logs) > 0 {
		r.keep(record)
		return
	}
	r.conclude(record)
}

func failureOf(item Item, outcome Outcome) Failure {
	return Failure{Index: item.Index, Attempts: item.Attempt, Error: outcome.reason().Error()}
}

// later schedules another try of an item after a pause. If there is no room outside the
// window, the item stays in it and soon blocks the others.
func (r *Runner) later(item Item, outcome Outcome) {
	r.counts.Retried++
	delay := outcome.After
	if delay <= 0 {
		delay = r.shard.Backoff(item.Attempt)
	}
	w := r.aside.all[item.Index]
	if w == nil {
		w = &waiting{index: item.Index, running: true, inWindow: r.aside.outside >= MaxAside}
		r.aside.add(w)
		if !w.inWindow {
			r.window.Done(item.Index)
		}
	}
	w.tries, w.due = item.Attempt, time.Now().Add(delay)
	if !w.kept {
		r.aside.keep(w, item.Data)
	}
	r.aside.again(w)
}

// afford takes one from the error budget, or halts the run.
func (r *Runner) afford(item Item) bool {
	if r.shard.StopOnExhausted {
		r.haltLocked(Ending{End: Stopped, Reason: fmt.Sprintf("item %d failed %d times", item.Index, item.Attempt)})
		return false
	}
	if r.budget >= 0 && r.spent >= r.budget {
		r.haltLocked(Ending{End: Stopped, Reason: fmt.Sprintf("the error budget of %d is used up: item %d failed %d times", r.budget, item.Index, item.Attempt)})
		return false
	}
	r.spent++
	return true
}

// leaveToDo leaves an item to the next run, which starts with a fresh number of tries. The
// item is either unfinished in the window or put aside.
func (r *Runner) leaveToDo(item Item) {
	if w := r.aside.all[item.Index]; w != nil {
		w.tries = 0
	}
}

// settleDone settles an item that needs no further work.
func (r *Runner) settleDone(index int64) {
	if w := r.aside.all[index]; w != nil {
		r.aside.remove(w)
		if w.redo {
			r.redo.open--
			r.redo.left--
		}
		if !w.inWindow {
			return
		}
	}
	r.window.Done(index)
}
