package storetest

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

func testChunks(c *chapter) {
	c.test("AddChunks stores chunks with their tasks, and sets First of each", func(f *fixture) {
		b := f.batch()
		one, two := chunk(7, 3), chunkOf(2, batch.PassUndo, 8, 2)
		one.Tasks[0].Change = batch.Change{
			Target: batch.Target{ID: "ü", Name: "n", Type: "box", Env: "e"},
			Before: json.RawMessage(`{"cpu":1}`), After: json.RawMessage(`{"cpu":2}`),
		}
		two.Tasks[1].Of = 12345678901
		two = marked(two, "os")
		two.Ended, two.Before, two.Doubt, two.Unremembered, two.Lost = []int64{0, 77}, map[int]json.RawMessage{1: json.RawMessage(`{"x":[1]}`)}, []int{1}, []int{0}, []int{0, 1}
		added := f.addChunks(b, one, two)
		one.Batch, one.First, two.Batch, two.First = b.ID, added[0].First, b.ID, added[1].First
		if one.First <= 0 || two.First <= 0 {
			f.Fatalf("the first IDs are %d and %d", one.First, two.First)
		}
		f.equal("the chunks", f.chunks(b.ID, batch.ChunkFilter{Tasks: true}), []batch.Chunk{one, two})
		one.Tasks, two.Tasks = nil, nil
		f.equal("the chunks without their tasks", f.elsewhere().chunks(b.ID, batch.ChunkFilter{}), []batch.Chunk{one, two})
	})
	c.test("the IDs of a chunk follow one another, and are not given to anything else", func(f *fixture) {
		b, g := f.batch(), f.elsewhere()
		taken := map[int64]bool{}
		take := func(first int64, n int) {
			f.Helper()
			for id := first; id < first+int64(n); id++ {
				if taken[id] {
					f.Fatalf("the ID %d is given twice", id)
				}
				taken[id] = true
			}
		}
		for i := range 4 {
			for _, p := range f.addChunks(b, chunk(3*i, batch.ChunkSize), chunk(3*i+1, 1), chunk(3*i+2, batch.ChunkSize-1)) {
				take(p.First, p.Size)
			}
			for _, each := range []*fixture{f, g} {
				jobs := many(10)
				each.enqueue(jobs...)
				for _, job := range jobs {
					take(job.ID, 1)
				}
			}
		}
	})
	c.test("AddChunks fails with ErrConflict if the batch has a chunk with one of the numbers, and then stores none", func(f *fixture) {
		b, other := f.batch(), f.batch()
		f.addChunks(b, chunk(5, 1))
		f.wantErr(f.store.AddChunks(f.ctx(), b.ID, []batch.Chunk{chunk(4, 1), chunk(5, 1), chunk(6, 1)}), fairlead.ErrConflict)
		f.equal("the chunks", numbers(f.chunks(b.ID, batch.ChunkFilter{})), []int{5})
		f.addChunks(other, chunk(5, 1))
		f.addChunks(b, chunk(4, 1), chunk(6, 1))
		f.equal("the chunks", numbers(f.chunks(b.ID, batch.ChunkFilter{})), []int{4, 5, 6})
	})
	c.test("AddChunks fails with ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.AddChunks(f.ctx(), f.batch().ID+1000, []batch.Chunk{chunk(1, 1)}), fairlead.ErrNotFound)
	})
	c.test("DropChunks removes the chunks of a pass, and no others", func(f *fixture) {
		b, other := f.batch(), f.batch()
		f.addChunks(b, chunk(1, 2), chunkOf(2, batch.PassRetry, 11, 2), chunkOf(2, batch.PassThen, 12, 1), chunkOf(3, batch.PassUndo, 21, 2))
		f.addChunks(other, chunkOf(2, batch.PassRetry, 11, 2))
		f.ok(f.store.DropChunks(f.ctx(), b.ID, 2))
		f.equal("the chunks", numbers(f.chunks(b.ID, batch.ChunkFilter{Tasks: true})), []int{1, 21})
		f.equal("the chunks of another", numbers(f.chunks(other.ID, batch.ChunkFilter{})), []int{11})
		f.addChunks(b, chunkOf(2, batch.PassRetry, 11, 2))
	})
	c.test("dropping what is not there is fine", func(f *fixture) {
		b := f.batch()
		f.addChunks(b, chunk(1, 2))
		f.ok(f.store.DropChunks(f.ctx(), b.ID, 2))
		f.ok(f.store.DropChunks(f.ctx(), b.ID+1000, 1))
		f.equal("the chunks", numbers(f.chunks(b.ID, batch.ChunkFilter{})), []int{1})
	})
	c.test("Chunks returns chunks of the batch, in the order of their numbers", func(f *fixture) {
		b, other := f.batch(), f.batch()
		f.addChunks(b, chunk(30, 1), chunk(2, 1))
		f.addChunks(other, chunk(3, 1))
		f.addChunks(b, chunk(11, 1))
		f.equal("the chunks", numbers(f.chunks(b.ID, batch.ChunkFilter{})), []int{2, 11, 30})
		f.equal("the chunks of nothing", len(f.chunks(b.ID+1000, batch.ChunkFilter{})), 0)
	})
	c.test("each filter of chunks chooses what it says, outside of Conduct and within", func(f *fixture) {
		b := f.batch()
		f.addChunks(b, marked(chunk(1, 3), "sfc"), marked(chunk(2, 3), "hos"), marked(chunkOf(2, batch.PassRetry, 13, 3), "hhh"),
			marked(chunkOf(2, batch.PassThen, 14, 2), "hh"), marked(chunkOf(3, batch.PassUndo, 25, 1), "o"))
		for _, a := range []struct {
			filter batch.ChunkFilter
			want   []int
		}{
			{batch.ChunkFilter{}, []int{1, 2, 13, 14, 25}},
			{batch.ChunkFilter{Numbers: []int{25, 1, 3}}, []int{1, 25}},
			{batch.ChunkFilter{After: 2}, []int{13, 14, 25}},
			{batch.ChunkFilter{Held: true}, []int{2, 13, 14}},
			{batch.ChunkFilter{Out: true}, []int{2, 25}},
			{batch.ChunkFilter{Held: true, Out: true}, []int{2}},
			{batch.ChunkFilter{Kind: batch.PassRetry}, []int{13}},
			{batch.ChunkFilter{Kind: batch.PassThen, Held: true, Limit: 1}, []int{14}},
			{batch.ChunkFilter{Kind: batch.PassUndo, Held: true}, nil},
			{batch.ChunkFilter{Limit: 2}, []int{1, 2}},
			{batch.ChunkFilter{After: 1, Held: true, Limit: 2}, []int{2, 13}},
			{batch.ChunkFilter{After: 25}, nil},
		} {
			for _, tasks := range []bool{false, true} {
				a.filter.Tasks = tasks
				f.equal(named("what is found by", a.filter), numbers(f.chunks(b.ID, a.filter)), a.want)
				var within []batch.Chunk
				f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
					within, err = tx.Chunks(ctx, a.filter)
					return err
				})
				f.equal(named("what is found within by", a.filter), within, f.chunks(b.ID, a.filter))
			}
		}
	})
	c.test("two thousand chunks are read a page at a time", func(f *fixture) {
		b := f.batch()
		all := f.size(60, 2000, "stores two thousand chunks")
		page := all * 3 / 20
		for i := 0; i < all; i += all / 20 {
			chunks := make([]batch.Chunk, all/20)
			for k := range chunks {
				chunks[k] = chunk(i+k+1, 1)
			}
			f.addChunks(b, chunks...)
		}
		next := 1
		for filter := (batch.ChunkFilter{Limit: page, Tasks: true}); ; filter.After = next - 1 {
			chunks := f.chunks(b.ID, filter)
			for _, p := range chunks {
				f.equal("the number", p.Number, next)
				f.equal("its tasks", len(p.Tasks), 1)
				next++
			}
			if len(chunks) < page {
				break
			}
		}
		f.equal("the number after the last", next, all+1)
	})
}
