package sweeping

import "context"

// redo contains the items that failed in an earlier run and are to be retried. Their
// indexes are read page by page. Started items are put aside, although neither the window
// nor the checkpoint's list contains them: the checkpoint's store knows which items are
// left.
type redo struct {
	left int64   // items not settled yet
	page []int64 // indexes read and not started
	next int64   // start of the next page
	more bool    // there may be another page
	open int     // items started and not settled
}

// redoPage is the number of indexes read at once.
const redoPage = 500

// planRedo starts items to be retried. It returns false if all have been started.
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

// recall reads the next page. It skips an item that is still unfinished: such an item is
// processed like the others, and its earlier failure is dropped.
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

// madeGood records that an item is done or has disappeared. If it failed in an earlier run,
// it no longer counts as failed.
func (r *Runner) madeGood(index int64) {
	if w := r.aside.all[index]; w != nil && w.redo {
		r.counts.Abandoned--
		r.redone = append(r.redone, index)
		r.tellSoon()
	}
}

// failed records a permanent failure of an item, either the first or a repeated one.
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

// maxUntold is the maximum number of items that the next checkpoint must report. When it is
// reached, a checkpoint is made immediately, and no item starts before.
const maxUntold = 1000

func (r *Runner) muchUntold() bool { return len(r.failures)+len(r.redone) >= maxUntold }

// tellSoon requests a checkpoint if there are many items to report.
func (r *Runner) tellSoon() {
	if r.muchUntold() {
		r.hurryUp()
	}
}

// told records that a checkpoint was stored.
func (r *Runner) told(c *Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures, r.redone = r.failures[len(c.Failed):], r.redone[len(c.Redone):]
	r.news()
}
