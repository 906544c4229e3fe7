package sweeping

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/descriptors"
	"github.com/fairlead-io/fairlead/internal/source"
)

// taking is the result of taking items.
type taking int

const (
	some       taking = iota
	nothingNow        // for a loop: nothing is available without waiting
	unneeded          // the worker is no longer needed
	trouble           // for a loop: it must wait for its items in progress
)

// take waits for w's turn and fetches its next items.
func (r *Runner) take(w *worker) taking {
	mayStart := false
	select {
	case r.turn <- struct{}{}: // usually no other worker has the turn, and then this path is cheaper
		mayStart = !w.looped && r.mayStart(w.now)
	default:
		select {
		case r.turn <- struct{}{}:
		case <-r.fetching.Done():
			return unneeded
		}
	}
	defer func() { <-r.turn }()
	for failures := 0; ; mayStart = false {
		if !mayStart && !r.awaitStart() { // before waiting for the rate, or delayed items would start all at once
			return unneeded
		}
		next := r.plan(w)
		var err error
		switch next.step {
		case leave:
			return unneeded
		case part:
			return nothingNow
		case await:
			r.await(next.until)
			continue
		case recall:
			if r.recall(r.fetching) != nil && pause(r.fetching, sourcePause) != nil {
				return unneeded
			}
			continue
		case repeat:
			err = r.fetchAgain(w, next.again)
		case proceed:
			err = r.fetch(w, next)
		}
		if r.halted.Load() {
			return unneeded
		}
		if err == nil {
			if len(w.items) > 0 {
				return some
			}
			continue
		}
		if r.lose(err) {
			return unneeded
		}
		if errors.Is(err, fairlead.ErrUnavailable) { // a list in an unavailable store: the lease limits how long to retry
			if pause(r.fetching, sourcePause) != nil {
				return unneeded
			}
			continue
		}
		if descriptors.Exhausted(err) {
			r.halt(Ending{End: Released, Err: err})
			return unneeded
		}
		if failures++; failures == sourceTries || errors.Is(err, source.ErrChanged) {
			r.halt(Ending{End: Stopped, Reason: err.Error()})
			return unneeded
		}
		if pause(r.fetching, sourcePause<<(failures-1)) != nil {
			return unneeded
		}
	}
}

// A failing source is retried for about half a minute.
const (
	sourceTries = 6
	sourcePause = time.Second
)

// plan is the next step of a worker.
type plan struct {
	step     step
	until    time.Time  // for await: time at which something is due, or zero
	again    []*waiting // for repeat
	from, to int64      // for proceed
	most     int        // for proceed
}

type step int

const (
	leave   step = iota // w is no longer needed
	part                // w must work outside its loop
	await               // until something is settled or due
	recall              // read the items to retry
	repeat              // items that failed earlier
	proceed             // new items
)

// plan chooses the next step. Items due for another try come first, because there are few,
// then items that failed in an earlier run, and then new items.
func (r *Runner) plan(w *worker) plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.items = w.items[:0]
	w.busy = false
	if w.id >= r.inFlight {
		w.employed, w.looped = false, false
		return plan{step: leave}
	}
	if r.halted.Load() {
		return plan{step: leave}
	}
	if w.looped && r.alone {
		return plan{step: part}
	}
	if r.muchUntold() {
		r.idle = true
		return plan{step: await}
	}
	most := r.atOnce()
	if w.looped {
		most = 1 // its loop has other items in progress
	}
	w.hold(most)
	if again := r.dueAgain(most); len(again) > 0 {
		w.busy = true
		return plan{step: repeat, again: again}
	}
	if r.shard.Serial && len(r.aside.due) > 0 {
		return r.awaitLocked()
	}
	if next, some := r.planRedo(w, most); some {
		return next
	}
	for {
		r.passAbsent()
		from, to := r.window.Gap(r.cursor)
		switch {
		case from < r.absentTo || from >= r.window.Limit() && from < r.shard.To:
			if !r.makeRoom() {
				return r.awaitLocked()
			}
		case from < r.shard.To:
			r.cursor, w.busy = from, true
			return plan{step: proceed, from: from, to: min(to, r.shard.To), most: most}
		case r.window.Mark() == r.shard.To && len(r.aside.all) == 0:
			r.haltLocked(Ending{End: Finished})
			return plan{step: leave}
		default:
			return r.awaitLocked()
		}
	}
}

func (r *Runner) awaitLocked() plan {
	r.idle = true
	return plan{step: await, until: r.aside.next()}
}

// dueAgain takes up to most items whose next try is due.
func (r *Runner) dueAgain(most int) []*waiting {
	if len(r.aside.due) == 0 {
		return nil
	}
	var again []*waiting
	for now := time.Now(); len(again) < most; {
		w := r.aside.take(now)
		if w == nil {
			break
		}
		again = append(again, w)
	}
	return again
}

// batchSlices is the number of milliseconds of the rate that one call may use.
const batchSlices = 10

// atOnce returns the number of items to fetch: as many as are handled in a short time or as
// the rate allows in one slice, but no more than a fair part of the window.
func (r *Runner) atOnce() int {
	if r.shard.Batch > 1 {
		return min(r.shard.Batch, r.slices()*min(r.pace.Slice(), r.shard.Batch))
	}
	if r.shard.Serial {
		return 1
	}
	fast := int(holdFor / max(r.speed, 1))
	left := max(r.shard.To-r.cursor, r.redo.left) / int64(r.inFlight)
	return int(min(int64(max(1, min(fast, mostAtOnce, r.pace.Slice(), r.shard.Window/(2*r.inFlight)))), max(1, left)))
}

// passAbsent advances the window over indexes without items, as far as possible.
func (r *Runner) passAbsent() {
	if r.cursor >= r.absentTo {
		return
	}
	to := min(r.absentTo, r.window.Limit())
	if r.window.Mark() >= r.cursor { // nothing is in progress, so a step of any size is possible
		to = r.absentTo
		r.window.Skip(to)
	} else {
		r.window.DoneRange(r.cursor, to)
	}
	if to > r.cursor {
		r.counts.Absent += to - r.cursor
		r.cursor = to
	}
}

// makeRoom moves the item at the mark out of the window, so that one slow item, or keys
// with large gaps, do not block the others. Items that have not failed may use half of the
// room.
func (r *Runner) makeRoom() bool {
	head := r.window.Mark()
	if head >= r.cursor {
		return false
	}
	if failed := r.aside.all[head]; failed != nil {
		if r.aside.outside >= MaxAside {
			return false
		}
		failed.inWindow = false
		r.aside.outside++
	} else {
		if r.aside.outside >= MaxAside/2 {
			return false
		}
		r.aside.add(&waiting{index: head, running: true})
	}
	r.window.Done(head)
	return true
}

// await waits for a settled item or until a time.
func (r *Runner) await(until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-r.wake:
	case <-due:
	case <-r.fetching.Done():
	}
}

// fetch reads new items and waits until the rate permits them to start.
func (r *Runner) fetch(w *worker, next plan) error {
	n, end, err := r.shard.Source.Read(r.fetching, next.from, next.to, w.read[:next.most])
	if err != nil {
		return err
	}
	if n == 0 {
		return r.pass(next, end)
	}
	may, err := r.awaitPace(w, n)
	if err != nil {
		return err
	}
	if may < n { // the others are read again later
		n, end = may, w.read[may].Index
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := next.from
	for _, item := range w.read[:n] {
		r.absent(at, item.Index)
		w.items = append(w.items, Item{Index: item.Index, Attempt: 1, Data: item.Data})
		at = item.Index + 1
	}
	r.absent(at, end)
	r.cursor = end
	return nil
}

func (r *Runner) absent(from, to int64) {
	if from < to {
		r.window.DoneRange(from, to)
		r.counts.Absent += to - from
	}
}

// pass skips a range without items. It asks a sparse source for the next item.
func (r *Runner) pass(next plan, end int64) error {
	if end <= next.from {
		return fmt.Errorf("the source has no items from %d on, but should have items up to %d", next.from, r.shard.To)
	}
	r.mu.Lock()
	behind := r.window.High() > next.to
	r.mu.Unlock()
	if sparse, ok := r.shard.Source.(source.Sparse); ok && !behind && end >= next.to && end < r.shard.To {
		var err error
		if end, err = sparse.Next(r.fetching, end, r.shard.To); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absentTo = end
	return nil
}

// fetchAgain fetches items for another try, from memory if possible. An item that has
// disappeared counts as absent.
func (r *Runner) fetchAgain(w *worker, again []*waiting) error {
	var held []*waiting // those with items held by w
	for i, a := range again {
		data, gone, err := a.data, false, error(nil)
		if !a.kept {
			data, gone, err = r.readAgain(w, a.index)
		}
		if err != nil {
			r.waitOn(again[i:])
			if len(w.items) == 0 {
				return err
			}
			break
		}
		if gone {
			r.mu.Lock()
			r.madeGood(a.index)
			r.settleDone(a.index)
			r.counts.Absent++
			r.mu.Unlock()
			continue
		}
		w.items = append(w.items, Item{Index: a.index, Attempt: a.tries + 1, Data: data})
		held = append(held, a)
	}
	if len(held) == 0 {
		return nil
	}
	may, err := r.awaitPace(w, len(held))
	if err != nil {
		return err
	}
	w.items = w.items[:may]
	r.waitOn(held[may:])
	return nil
}

// awaitPace waits until items may start and returns their number, which is smaller if the
// rate was lowered meanwhile. In a loop, all may start immediately, because there was no
// rate when the loop decided to take them.
func (r *Runner) awaitPace(w *worker, items int) (may int, err error) {
	if w.looped {
		return items, r.fetching.Err()
	}
	return r.pace.Wait(r.fetching, items, r.slices())
}

// slices returns the number of milliseconds of the rate that may start at once.
func (r *Runner) slices() int {
	if r.shard.Batch > 1 {
		return batchSlices
	}
	return 1
}

func (r *Runner) readAgain(w *worker, index int64) (data []byte, gone bool, err error) {
	n, _, err := r.shard.Source.Read(r.fetching, index, index+1, w.read[:1])
	if err != nil || n == 0 {
		return nil, n == 0, err
	}
	return w.read[0].Data, false, nil
}

// waitOn returns items that could not be fetched to the waiting items.
func (r *Runner) waitOn(again []*waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range again {
		r.aside.again(a)
	}
}
