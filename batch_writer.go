package fairlead

import "context"

// partBytes is from how many bytes on a part is full: it is read and written at
// once.
const partBytes = 1 << 20

// partWriter stores the parts of a pass, a few at a time.
type partWriter struct {
	store Conductor
	batch int64
	pass  int
	kind  PassKind
	next  int // number of the next part
	tasks []PartTask
	bytes int // of these tasks
	parts []Part
	count int // tasks so far
}

func newPartWriter(store Conductor, batch int64, pass int, kind PassKind) *partWriter {
	return &partWriter{store: store, batch: batch, pass: pass, kind: kind, next: pass * partsPerPass}
}

// add adds a task.
func (w *partWriter) add(ctx context.Context, task PartTask) error {
	if w.tasks == nil {
		w.tasks = make([]PartTask, 0, PartSize)
	}
	w.tasks = append(w.tasks, task)
	w.bytes += len(task.Before) + len(task.After)
	w.count++
	if len(w.tasks) < PartSize && w.bytes < partBytes {
		return nil
	}
	w.cut()
	if len(w.parts) < partsAtOnce {
		return nil
	}
	return w.flush(ctx)
}

// full tells whether there are no more numbers for parts: the last is for the jobs
// of the completion.
func (w *partWriter) full() bool { return w.next-w.pass*partsPerPass >= partsPerPass-2 }

// cut makes a part of the tasks so far.
func (w *partWriter) cut() {
	if n := len(w.tasks); n > 0 {
		w.put(Part{Kind: w.kind, Size: n, Held: n, Marks: NewMarks(n), Tasks: w.tasks})
		w.tasks, w.bytes = nil, 0
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
	err := w.store.AddParts(ctx, w.batch, w.parts)
	w.parts = nil
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
