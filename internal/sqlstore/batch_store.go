package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// BatchDialect implements what differs between databases when a batch is stored.
type BatchDialect interface {
	// SetAside reserves n consecutive job IDs and returns the first. It must be called
	// before the first statement of a transaction, because it may reserve the IDs over
	// another connection.
	SetAside(ctx context.Context, db DB, n int) (int64, error)
	// IsTaken reports whether an error is a duplicate-key error.
	IsTaken(err error) bool
}

// batchStore stores batches and their chunks.
type batchStore struct {
	db      Database
	dialect BatchDialect
	sql     *BatchStatements
	marks   *IDMarkStatements // nil in a caller's transaction
}

// BatchStatements holds the SQL statements of batchStore.
type BatchStatements struct {
	AddBatch        string `sql:"add_batch"`
	AddedBatch      string `sql:"added_batch"`
	LockBatch       string `sql:"lock_batch"`
	ShareBatch      string `sql:"share_batch"`
	DeleteBatch     string `sql:"delete_batch"`
	DropBatchChunks string `sql:"drop_batch_chunks"`
	DropBatchTasks  string `sql:"drop_batch_tasks"`
	AddChunks       string `sql:"add_chunks"`
	AddTasks        string `sql:"add_tasks"`
	PassChunks      string `sql:"pass_chunks"`
	DropChunks      string `sql:"drop_chunks"`
	DropChunkTasks  string `sql:"drop_chunk_tasks"`
}

// CreateBatch stores a batch without tasks.
func (s *batchStore) CreateBatch(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	created, err := s.add(MayWait(ctx), "create batch", batch.Record{Batch: b}, nil)
	return created.Batch, err
}

// AddBatch stores an opened batch and all its chunks in the caller's transaction.
func AddBatch(ctx context.Context, callers Database, dialect BatchDialect, statements *BatchStatements, b batch.Record, chunks []batch.Chunk) (batch.Record, error) {
	s := &batchStore{db: callers, dialect: dialect, sql: statements}
	return s.add(ctx, "add batch", b, chunks)
}

func (s *batchStore) add(ctx context.Context, verb string, b batch.Record, chunks []batch.Chunk) (batch.Record, error) {
	body, err := EncodeBatch(&b.Batch)
	if err != nil {
		return batch.Record{}, fmt.Errorf("%s: %w", verb, err)
	}
	status, err := EncodeBatchStatus(&b)
	if err != nil {
		return batch.Record{}, fmt.Errorf("%s: %w", verb, err)
	}
	fresh, err := newChunks(chunks)
	if err != nil {
		return batch.Record{}, fmt.Errorf("%s: %w", verb, err)
	}
	var id, created int64
	err = s.db.InTx(ctx, verb, func(ctx context.Context, db DB) error {
		firsts, err := s.number(ctx, db, fresh)
		if err != nil {
			return err
		}
		db.Queue(s.sql.AddBatch, b.Opened, BatchOpen(&b), b.Name, b.Type, b.Queue, b.Tenant, string(b.State()), JSON(status), JSON(body))
		db.QueueEach(func(row Scanner) error { return row.Scan(&id, &created) }, s.sql.AddedBatch)
		if len(fresh) == 0 {
			return nil
		}
		if err := db.Flush(ctx); err != nil {
			return err
		}
		s.addChunks(db, id, fresh, firsts)
		return nil
	})
	if err != nil {
		return batch.Record{}, err
	}
	b.ID, b.CreatedAt = id, Time(created)
	return b, nil
}

// DeleteBatch removes a completed batch and its chunks. It deletes the batch first: the
// delete waits for transactions that are adding chunks, so that it finds and removes those
// chunks too.
func (s *batchStore) DeleteBatch(ctx context.Context, id int64) error {
	return s.db.InTx(MayWait(ctx), "delete batch", func(ctx context.Context, db DB) error {
		found, err := list(ctx, db, scanLockedBatch, s.sql.LockBatch, id)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return NoSuchBatch(id)
		}
		if err := batchBusy(&found[0]); err != nil {
			return err
		}
		db.Queue(s.marks.LateIDs, id)
		for _, statement := range []string{s.sql.DeleteBatch, s.sql.DropBatchChunks, s.sql.DropBatchTasks} {
			db.Queue(statement, id)
		}
		return nil
	})
}

// newChunk is the stored form of a chunk. It copies the caller's data, which may change
// once the caller has stopped waiting.
type newChunk struct {
	number, pass, size, held, out int
	kind                          batch.PassKind
	marks, tasks                  []byte
}

func newChunks(chunks []batch.Chunk) ([]newChunk, error) {
	fresh := make([]newChunk, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		marks, err := EncodeMarks(&c.Marks)
		if err != nil {
			return nil, fmt.Errorf("encode marks of chunk %d: %w", c.Number, err)
		}
		tasks, err := EncodeTasks(c)
		if err != nil {
			return nil, err
		}
		fresh[i] = newChunk{number: c.Number, pass: c.Pass, size: c.Size, held: c.Held, out: c.Out, kind: c.Kind, marks: marks, tasks: tasks}
	}
	return fresh, nil
}

// number reserves the IDs of the tasks.
func (s *batchStore) number(ctx context.Context, db DB, chunks []newChunk) ([]int64, error) {
	firsts := make([]int64, len(chunks))
	for i := range chunks {
		first, err := s.dialect.SetAside(ctx, db, chunks[i].size)
		if err != nil {
			return nil, fmt.Errorf("reserve ids: %w", err)
		}
		firsts[i] = first
	}
	return firsts, nil
}

// AddChunks stores chunks of a batch, either all or none. It locks the batch against
// deletion.
func (s *batchStore) AddChunks(ctx context.Context, batch int64, chunks []batch.Chunk) error {
	if len(chunks) == 0 {
		return nil
	}
	fresh, err := newChunks(chunks)
	if err != nil {
		return fmt.Errorf("add chunks: %w", err)
	}
	var firsts []int64
	err = s.db.InTx(MayWait(ctx), "add chunks", func(ctx context.Context, db DB) error {
		numbered, err := s.number(ctx, db, fresh)
		if err != nil {
			return err
		}
		firsts = numbered
		found, err := list(ctx, db, scanNumber, s.sql.ShareBatch, batch)
		if err == nil && len(found) == 0 {
			err = NoSuchBatch(batch)
		}
		if err == nil {
			s.addChunks(db, batch, fresh, numbered)
		}
		return err
	})
	switch {
	case err != nil && s.dialect.IsTaken(err):
		return fmt.Errorf("add chunks: batch %d already has a chunk with one of these numbers: %w", batch, fairlead.ErrConflict)
	case err != nil:
		return err
	}
	for i, first := range firsts {
		chunks[i].Batch, chunks[i].First = batch, first
	}
	return nil
}

// addChunks queues the statements that store chunks. The tasks of each chunk are a separate
// statement, because they may be megabytes.
func (s *batchStore) addChunks(db DB, batch int64, chunks []newChunk, firsts []int64) {
	var rows Rows
	for i := range chunks {
		c := &chunks[i]
		rows.Add(batch, int64(c.number), int64(c.pass), string(c.kind), firsts[i], int64(c.size), int64(c.held), int64(c.out), JSON(c.marks))
	}
	db.Queue(s.sql.AddChunks, &rows)
	for i := range chunks {
		db.Queue(s.sql.AddTasks, batch, chunks[i].number, JSON(chunks[i].tasks))
	}
}

// DropChunks removes the chunks of a pass.
func (s *batchStore) DropChunks(ctx context.Context, batch int64, pass int) error {
	return s.db.InTx(MayWait(ctx), "drop chunks", func(ctx context.Context, db DB) error {
		numbers, err := list(ctx, db, scanNumber, s.sql.PassChunks, batch, pass)
		if err == nil && len(numbers) > 0 {
			db.Queue(s.sql.DropChunks, batch, List[int64](numbers))
			db.Queue(s.sql.DropChunkTasks, batch, List[int64](numbers))
		}
		return err
	})
}
