package batch

import "context"

// storeBytes limits the tasks of a transaction, and of a chunk, in bytes. The last task may
// exceed it. A store takes about four times as much memory while it encodes and writes them.
const storeBytes = 2 << 20

// chunkWriter stores the chunks of a pass, a few at a time.
type chunkWriter struct {
	store  func(ctx context.Context, batch int64, chunks []Chunk) error
	batch  int64
	pass   int
	kind   PassKind
	next   int // number of the next chunk
	tasks  []ChunkTask
	doubt  []int // those of tasks that an earlier pass may have applied
	lost   []int // those of tasks that are doubtful
	chunks []Chunk
	count  int // tasks so far
	bytes  int // of tasks
	whole  int // bytes of chunks
}

func newChunkWriter(store func(ctx context.Context, batch int64, chunks []Chunk) error, batch int64, pass int, kind PassKind) *chunkWriter {
	return &chunkWriter{store: store, batch: batch, pass: pass, kind: kind, next: pass * chunksPerPass}
}

// add adds a task. doubt is whether an earlier pass may have applied it, lost whether it is
// doubtful.
func (w *chunkWriter) add(ctx context.Context, task ChunkTask, doubt, lost bool) error {
	if w.tasks == nil {
		w.tasks = make([]ChunkTask, 0, ChunkSize)
	}
	if doubt {
		w.doubt = append(w.doubt, len(w.tasks))
	}
	if lost {
		w.lost = append(w.lost, len(w.tasks))
	}
	w.tasks = append(w.tasks, task)
	w.count++
	w.bytes += len(task.Before) + len(task.After) + len(task.Target.ID) + len(task.Target.Name) + len(task.Target.Type) + len(task.Target.Env)
	if len(w.tasks) < ChunkSize && w.whole+w.bytes < storeBytes {
		return nil
	}
	w.cut()
	if len(w.chunks) < chunksAtOnce && w.whole < storeBytes {
		return nil
	}
	return w.flush(ctx)
}

// full reports whether there are no more numbers for chunks: the last is for the jobs
// of the completion.
func (w *chunkWriter) full() bool { return w.next-w.pass*chunksPerPass >= chunksPerPass-2 }

// cut makes a chunk of the tasks so far.
func (w *chunkWriter) cut() {
	if n := len(w.tasks); n > 0 {
		marks := NewMarks(n)
		marks.Doubt, marks.Lost = w.doubt, w.lost
		w.put(Chunk{Kind: w.kind, Size: n, Held: n, Marks: marks, Tasks: w.tasks})
		w.whole += w.bytes
		w.tasks, w.doubt, w.lost, w.bytes = nil, nil, nil, 0
	}
}

func (w *chunkWriter) put(chunk Chunk) {
	chunk.Batch, chunk.Number, chunk.Pass = w.batch, w.next, w.pass
	w.next++
	w.chunks = append(w.chunks, chunk)
}

func (w *chunkWriter) flush(ctx context.Context) error {
	if len(w.chunks) == 0 {
		return nil
	}
	err := w.store(ctx, w.batch, w.chunks)
	w.chunks, w.whole = nil, 0
	return err
}

// close stores what is left, and sets IDs aside for the jobs of the completion that
// the pass leads to.
func (w *chunkWriter) close(ctx context.Context, batch *Batch) error {
	w.cut()
	if then := batch.thenChunk(); then != nil {
		w.put(*then)
	}
	return w.flush(ctx)
}
