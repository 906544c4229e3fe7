package storetest

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

func testParts(c *chapter) {
	c.test("AddParts stores parts with their tasks, and sets First of each", func(f *fixture) {
		b := f.batch()
		one, two := part(7, 3), partOf(2, batch.PassUndo, 8, 2)
		one.Tasks[0].Change = batch.Change{
			Target: batch.Target{ID: "ü", Name: "n", Type: "box", Env: "e"},
			Before: json.RawMessage(`{"cpu":1}`), After: json.RawMessage(`{"cpu":2}`),
		}
		two.Tasks[1].Of = 12345678901
		two = marked(two, "os")
		two.Ended, two.Before, two.Doubt, two.Unremembered = []int64{0, 77}, map[int]json.RawMessage{1: json.RawMessage(`{"x":[1]}`)}, []int{1}, []int{0}
		added := f.addParts(b, one, two)
		one.Batch, one.First, two.Batch, two.First = b.ID, added[0].First, b.ID, added[1].First
		if one.First <= 0 || two.First <= 0 {
			f.Fatalf("the first IDs are %d and %d", one.First, two.First)
		}
		f.equal("the parts", f.parts(b.ID, batch.PartFilter{Tasks: true}), []batch.Part{one, two})
		one.Tasks, two.Tasks = nil, nil
		f.equal("the parts without their tasks", f.elsewhere().parts(b.ID, batch.PartFilter{}), []batch.Part{one, two})
	})
	c.test("the IDs of a part follow one another, and are not given to anything else", func(f *fixture) {
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
			for _, p := range f.addParts(b, part(3*i, batch.PartSize), part(3*i+1, 1), part(3*i+2, batch.PartSize-1)) {
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
	c.test("AddParts fails with ErrConflict if the batch has a part with one of the numbers, and then stores none", func(f *fixture) {
		b, other := f.batch(), f.batch()
		f.addParts(b, part(5, 1))
		f.wantErr(f.store.AddParts(f.ctx(), b.ID, []batch.Part{part(4, 1), part(5, 1), part(6, 1)}), fairlead.ErrConflict)
		f.equal("the parts", numbers(f.parts(b.ID, batch.PartFilter{})), []int{5})
		f.addParts(other, part(5, 1))
		f.addParts(b, part(4, 1), part(6, 1))
		f.equal("the parts", numbers(f.parts(b.ID, batch.PartFilter{})), []int{4, 5, 6})
	})
	c.test("AddParts fails with ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.AddParts(f.ctx(), f.batch().ID+1000, []batch.Part{part(1, 1)}), fairlead.ErrNotFound)
	})
	c.test("DropParts removes the parts of a pass, and no others", func(f *fixture) {
		b, other := f.batch(), f.batch()
		f.addParts(b, part(1, 2), partOf(2, batch.PassRetry, 11, 2), partOf(2, batch.PassThen, 12, 1), partOf(3, batch.PassUndo, 21, 2))
		f.addParts(other, partOf(2, batch.PassRetry, 11, 2))
		f.ok(f.store.DropParts(f.ctx(), b.ID, 2))
		f.equal("the parts", numbers(f.parts(b.ID, batch.PartFilter{Tasks: true})), []int{1, 21})
		f.equal("the parts of another", numbers(f.parts(other.ID, batch.PartFilter{})), []int{11})
		f.addParts(b, partOf(2, batch.PassRetry, 11, 2))
	})
	c.test("dropping what is not there is fine", func(f *fixture) {
		b := f.batch()
		f.addParts(b, part(1, 2))
		f.ok(f.store.DropParts(f.ctx(), b.ID, 2))
		f.ok(f.store.DropParts(f.ctx(), b.ID+1000, 1))
		f.equal("the parts", numbers(f.parts(b.ID, batch.PartFilter{})), []int{1})
	})
	c.test("Parts returns parts of the batch, in the order of their numbers", func(f *fixture) {
		b, other := f.batch(), f.batch()
		f.addParts(b, part(30, 1), part(2, 1))
		f.addParts(other, part(3, 1))
		f.addParts(b, part(11, 1))
		f.equal("the parts", numbers(f.parts(b.ID, batch.PartFilter{})), []int{2, 11, 30})
		f.equal("the parts of nothing", len(f.parts(b.ID+1000, batch.PartFilter{})), 0)
	})
	c.test("each filter of parts chooses what it says, outside of Conduct and within", func(f *fixture) {
		b := f.batch()
		f.addParts(b, marked(part(1, 3), "sfc"), marked(part(2, 3), "hos"), marked(partOf(2, batch.PassRetry, 13, 3), "hhh"),
			marked(partOf(2, batch.PassThen, 14, 2), "hh"), marked(partOf(3, batch.PassUndo, 25, 1), "o"))
		for _, a := range []struct {
			filter batch.PartFilter
			want   []int
		}{
			{batch.PartFilter{}, []int{1, 2, 13, 14, 25}},
			{batch.PartFilter{Numbers: []int{25, 1, 3}}, []int{1, 25}},
			{batch.PartFilter{After: 2}, []int{13, 14, 25}},
			{batch.PartFilter{Held: true}, []int{2, 13, 14}},
			{batch.PartFilter{Out: true}, []int{2, 25}},
			{batch.PartFilter{Held: true, Out: true}, []int{2}},
			{batch.PartFilter{Kind: batch.PassRetry}, []int{13}},
			{batch.PartFilter{Kind: batch.PassThen, Held: true, Limit: 1}, []int{14}},
			{batch.PartFilter{Kind: batch.PassUndo, Held: true}, nil},
			{batch.PartFilter{Limit: 2}, []int{1, 2}},
			{batch.PartFilter{After: 1, Held: true, Limit: 2}, []int{2, 13}},
			{batch.PartFilter{After: 25}, nil},
		} {
			for _, tasks := range []bool{false, true} {
				a.filter.Tasks = tasks
				f.equal(named("what is found by", a.filter), numbers(f.parts(b.ID, a.filter)), a.want)
				var within []batch.Part
				f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
					within, err = tx.Parts(ctx, a.filter)
					return err
				})
				f.equal(named("what is found within by", a.filter), within, f.parts(b.ID, a.filter))
			}
		}
	})
	c.test("two thousand parts are read a page at a time", func(f *fixture) {
		b := f.batch()
		const all, page = 2000, 300
		for i := 0; i < all; i += 100 {
			parts := make([]batch.Part, 100)
			for k := range parts {
				parts[k] = part(i+k+1, 1)
			}
			f.addParts(b, parts...)
		}
		next := 1
		for filter := (batch.PartFilter{Limit: page, Tasks: true}); ; filter.After = next - 1 {
			parts := f.parts(b.ID, filter)
			for _, p := range parts {
				f.equal("the number", p.Number, next)
				f.equal("its tasks", len(p.Tasks), 1)
				next++
			}
			if len(parts) < page {
				break
			}
		}
		f.equal("the number after the last", next, all+1)
	})
}
