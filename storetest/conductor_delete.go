package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

func testDeleteBatch(c *chapter) {
	c.test("DeleteBatch removes a batch with its chunks, and no other", func(f *fixture) {
		b, _ := f.opened(3)
		f.addChunks(b, chunkOf(2, batch.PassThen, 11, 1))
		other, _ := f.opened(3)
		for _, id := range []int64{b.ID, other.ID} {
			f.change(id, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{Success: 3}, f.now() })
		}
		f.ok(f.store.DeleteBatch(f.ctx(), b.ID))
		f.equal("the batches", batchIDs(f.elsewhere().batches(batch.Filter{})), []int64{other.ID})
		f.equal("its chunks", len(f.chunks(b.ID, batch.ChunkFilter{})), 0)
		f.equal("the chunks of another", len(f.chunks(other.ID, batch.ChunkFilter{Tasks: true})), 1)
		f.wantErr(f.store.AddChunks(f.ctx(), b.ID, []batch.Chunk{chunk(1, 3)}), fairlead.ErrNotFound)
	})
	c.test("DeleteBatch fails with ErrConflict unless the batch has completed", func(f *fixture) {
		b, _ := f.opened(2)
		f.wantErr(f.store.DeleteBatch(f.ctx(), b.ID), fairlead.ErrConflict)
		f.change(b.ID, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{Fail: 2}, f.now() })
		f.change(b.ID, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{RetryPending: 2}, time.Time{} })
		f.wantErr(f.store.DeleteBatch(f.ctx(), b.ID), fairlead.ErrConflict)
		f.equal("the batches", batchIDs(f.batches(batch.Filter{})), []int64{b.ID})
		f.equal("its chunks", len(f.chunks(b.ID, batch.ChunkFilter{Tasks: true})), 1)
	})
	c.test("DeleteBatch fails with ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.DeleteBatch(f.ctx(), f.batch().ID+1000), fairlead.ErrNotFound)
	})
}
