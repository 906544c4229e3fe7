package batch

import "context"

// Bounds of what is held in memory and stored at once, whatever the tasks say.
const (
	partBytes  = 4 << 20 // of the tasks of a chunk
	storeBytes = 8 << 20 // of those of all chunks of one transaction
)

// partWriter stores the chunks of a pass, a few at a time.
type partWriter struct {
	store func(ctx context.Context, batch int64, parts []Part) error
	batch int64
	pass  int
	kind  PassKind
	next  int // number of the next chunk
	tasks []PartTask
	doubt []int // those of tasks that an earlier pass may have applied
	parts []Part
	count int // tasks so far
	bytes int // of tasks
	whole int // bytes of chunks
}

func newPartWriter(store func(ctx context.Context, batch int64, parts []Part) error, batch int64, pass int, kind PassKind) *partWriter {
	return &partWriter{store: store, batch: batch, pass: pass, kind: kind, next: pass * partsPerPass}
}

// add adds a task that an earlier pass may have applied, or not.
func (w *partWriter) add(ctx context.Context, task PartTask, doubt bool) error {
	if w.tasks == nil {
		w.tasks = make([]PartTask, 0, PartSize)
	}
	if doubt {
		w.doubt = append(w.doubt, len(w.tasks))
	}
	w.tasks = append(w.tasks, task)
	w.count++
	w.bytes += len(task.Before) + len(task.After)
	if len(w.tasks) < PartSize && w.bytes < partBytes {
		return nil
	}
	w.cut()
	if len(w.parts) < partsAtOnce && w.whole < storeBytes {
		return nil
	}
	return w.flush(ctx)
}

// full reports whether there are no more numbers for chunks: the last is for the jobs
// of the completion.
func (w *partWriter) full() bool { return w.next-w.pass*partsPerPass >= partsPerPass-2 }

// cut makes a chunk of the tasks so far.
func (w *partWriter) cut() {
	if n := len(w.tasks); n > 0 {
		marks := NewMarks(n)
		marks.Doubt = w.doubt
		w.put(Part{Kind: w.kind, Size: n, Held: n, Marks: marks, Tasks: w.tasks})
		w.whole += w.bytes
		w.tasks, w.doubt, w.bytes = nil, nil, 0
	}
}

func (w *partWriter) put(part Part) {
	part.Batch, part.Number, part.Pass = w.batch, w.next, w.pass
	w.next++
	w.parts = append(w.parts, part)
}

func (w *partWriter) flush(ctx context.Context) error {
	if len(w.parts) == 0 {
		return nil
	}
	err := w.store(ctx, w.batch, w.parts)
	w.parts, w.whole = nil, 0
	return err
}

// close stores what is left, and sets IDs aside for the jobs of the completion that
// the pass leads to.
func (w *partWriter) close(ctx context.Context, batch *Batch) error {
	w.cut()
	if then := batch.thenPart(); then != nil {
		w.put(*then)
	}
	return w.flush(ctx)
}
