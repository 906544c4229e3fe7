package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// batchTx is what act may do. The context is that of the transaction, whatever act
// makes of it.
type batchTx struct {
	txn    *txn
	batch  int64
	losses []batch.Loss
	broken error // a statement failed: nothing of this may be kept
}

var _ batch.Tx = (*batchTx)(nil)

// fail notes that a statement failed.
func (b *batchTx) fail(err error) error {
	if err != nil && b.broken == nil {
		b.broken = err
	}
	return err
}

// Now is the database's clock.
func (b *batchTx) Now() time.Time { return sqlstore.Time(b.txn.now) }

// Losses are the moments at which the file may have lost commits.
func (b *batchTx) Losses() []batch.Loss { return b.losses }

// Chunks returns chunks of the batch.
func (b *batchTx) Chunks(_ context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	chunks, err := b.txn.chunks(b.batch, filter)
	return chunks, b.fail(err)
}

// SaveChunks keeps how the tasks of chunks stand.
func (b *batchTx) SaveChunks(_ context.Context, chunks []batch.Chunk) error {
	for i := range chunks {
		p := &chunks[i]
		marks, err := sqlstore.EncodeMarks(&p.Marks)
		if err == nil {
			err = b.txn.must(1, b.txn.sql.SaveChunk, p.Held, p.Out, string(marks), b.batch, p.Number)
		}
		if err != nil {
			return b.fail(err)
		}
	}
	return nil
}

// Ends tells which jobs are final.
func (b *batchTx) Ends(_ context.Context, first, last int64) ([]batch.TaskEnd, error) {
	var ends []batch.TaskEnd
	err := b.txn.each(b.txn.sql.Ends, []any{first, last}, func(row sqlstore.Scanner) error {
		end, err := sqlstore.ScanEnd(row)
		ends = append(ends, end)
		return err
	})
	return ends, b.fail(err)
}

// Known tells which ids are those of jobs.
func (b *batchTx) Known(_ context.Context, first, last int64) ([]int64, error) {
	known, err := b.txn.list(b.txn.sql.Known, first, last)
	return known, b.fail(err)
}

// Running tells how many jobs run.
func (b *batchTx) Running(_ context.Context, first, last int64) (int, error) {
	counts, err := b.txn.list(b.txn.sql.RunningBetween, first, last)
	if err != nil {
		return 0, b.fail(err)
	}
	return int(counts[0]), nil
}

// Enqueue makes jobs under ids that were set aside.
func (b *batchTx) Enqueue(_ context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	fresh := newJobs(jobs)
	for i, job := range jobs {
		fresh[i].id = job.ID
	}
	_, err := b.txn.insert(fresh)
	return b.fail(err)
}

// Recall removes jobs that wait to be started.
func (b *batchTx) Recall(_ context.Context, first, last int64) ([]int64, error) {
	ids, err := b.txn.recall(first, last)
	return ids, b.fail(err)
}

func (t *txn) recall(first, last int64) (ids []int64, err error) {
	places := map[fairlead.State][]int64{}
	err = t.each(t.sql.Recallable, []any{first, last}, func(row sqlstore.Scanner) error {
		var id int64
		var lane int32
		var state fairlead.State
		err := row.Scan(&id, &lane, &state)
		ids = append(ids, id)
		places[state] = append(places[state], id)
		if state == fairlead.Ready {
			t.leftReady(lane)
		}
		return err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	for state, leave := range map[fairlead.State]string{
		fairlead.Scheduled: t.sql.LeaveLaterMany, fairlead.Ready: t.sql.LeaveReadyMany, fairlead.Parked: t.sql.LeaveParkedMany,
	} {
		if n := len(places[state]); n > 0 {
			if err := t.must(int64(n), leave, idList(places[state])); err != nil {
				return nil, err
			}
		}
	}
	if err := t.giveBackMany(idList(ids)); err != nil {
		return nil, err
	}
	return ids, t.forget(ids)
}
