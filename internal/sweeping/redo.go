package sweeping

import "context"

// redo is the items that failed before and are to be tried again. Their
// indexes are read a page at a time. Those that were begun are put aside, though
// neither the window nor the checkpoint's list knows of them: the store of the
// checkpoint knows which are left.
type redo struct {
	left int64   // not settled yet
	page []int64 // read, and not begun
	next int64   // where the next page begins
	more bool    // there may be one
	open int     // begun, and not settled
}

// redoPage is how many indexes are read at once.
const redoPage = 500

// planRedo begins items that are to be tried again. It returns false if all have
// been begun.
func (r *Runner) planRedo(w *worker, most int) (plan, bool) {
	room := min(most, r.shard.Window-r.redo.open)
	switch {
	case len(r.redo.page) == 0 && !r.redo.more:
		if r.redo.open == 0 {
			r.redo.left = 0
		}
		return plan{}, false
	case room <= 0:
		return r.awaitLocked(), true
	case len(r.redo.page) == 0:
		return plan{step: recall}, true
	}
	n := min(room, len(r.redo.page))
	again := make([]*waiting, n)
	for i, index := range r.redo.page[:n] {
		again[i] = &waiting{index: index, redo: true, running: true}
		r.aside.add(again[i])
	}
	r.redo.page = r.redo.page[n:]
	r.redo.open += n
	w.busy = true
	return plan{step: repeat, again: again}, true
}

// recall reads the next page. An item that is still to do is not tried again: it
// is tried as the others are, and nothing is known of it any more.
func (r *Runner) recall(ctx context.Context) error {
	page, err := r.shard.Again(ctx, r.redo.next, redoPage) // only this goroutine reads
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.redo.more = len(page) == redoPage
	for _, index := range page {
		r.redo.next = index + 1
		if r.aside.all[index] != nil || !r.window.IsDone(index) {
			r.redone = append(r.redone, index)
			r.redo.left--
			continue
		}
		r.redo.page = append(r.redo.page, index)
	}
	return nil
}

// madeGood records that an item is done, or has gone: if it failed before, it counts as
// failed no more.
func (r *Runner) madeGood(index int64) {
	if w := r.aside.all[index]; w != nil && w.redo {
		r.counts.Abandoned--
		r.redone = append(r.redone, index)
		r.tellSoon()
	}
}

// failed records that an item failed for good, for the first time or again.
func (r *Runner) failed(record *record) {
	r.counts.Failed++
	if record.exhausted {
		r.counts.Exhausted++
	}
	if w := r.aside.all[record.Index]; w == nil || !w.redo {
		r.counts.Abandoned++
	}
	r.failures = append(r.failures, record.failure)
	r.tellSoon()
}

// maxUntold is how many items there may be of which the next checkpoint has to
// tell. When there are more it is made at once, and nothing is begun before.
const maxUntold = 1000

func (r *Runner) muchUntold() bool { return len(r.failures)+len(r.redone) >= maxUntold }

// tellSoon asks for a checkpoint if there is much to tell.
func (r *Runner) tellSoon() {
	if r.muchUntold() {
		r.hurryUp()
	}
}

// told records that a checkpoint was kept.
func (r *Runner) told(c *Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures, r.redone = r.failures[len(c.Failed):], r.redone[len(c.Redone):]
	r.news()
}
