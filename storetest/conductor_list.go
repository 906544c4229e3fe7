package storetest

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

func testListBatches(c *chapter) {
	c.test("Batches returns the batches that match, newest first", func(f *fixture) {
		a, _ := f.opened(1, func(b *batch.Batch) { b.Name, b.Type, b.Queue, b.Tenant = "one", "move", "sg", "acme" })
		b, _ := f.opened(1, func(b *batch.Batch) { b.Name, b.Type, b.Queue, b.Tenant = "two", "stop", "sg", "acme" })
		d, _ := f.opened(1, func(b *batch.Batch) { b.Name, b.Type, b.Queue, b.Tenant = "one", "stop", "us", "beta" })
		f.change(b.ID, func(b *batch.Record) { b.EndedAt = f.now() })
		for _, ask := range []struct {
			filter batch.Filter
			want   []int64
		}{
			{batch.Filter{}, []int64{d.ID, b.ID, a.ID}},
			{batch.Filter{IDs: []int64{a.ID, d.ID, d.ID + 1000}}, []int64{d.ID, a.ID}},
			{batch.Filter{Names: []string{"one"}}, []int64{d.ID, a.ID}},
			{batch.Filter{Names: []string{"one", "two"}, Types: []string{"stop"}}, []int64{d.ID, b.ID}},
			{batch.Filter{Types: []string{"move", "start"}}, []int64{a.ID}},
			{batch.Filter{Queues: []string{"sg"}}, []int64{b.ID, a.ID}},
			{batch.Filter{Tenants: []string{"beta"}}, []int64{d.ID}},
			{batch.Filter{Tenants: []string{"acme"}, Queues: []string{"us"}}, nil},
			{batch.Filter{Open: true}, []int64{d.ID, a.ID}},
			{batch.Filter{Open: true, Queues: []string{"sg"}}, []int64{a.ID}},
			{batch.Filter{IDs: []int64{a.ID, b.ID}, Open: true}, []int64{a.ID}},
			{batch.Filter{Below: d.ID}, []int64{b.ID, a.ID}},
			{batch.Filter{Limit: 2}, []int64{d.ID, b.ID}},
			{batch.Filter{Below: b.ID, Limit: 2}, []int64{a.ID}},
		} {
			f.equal(named("what is found by", ask.filter), batchIDs(f.batches(ask.filter)), ask.want)
		}
	})
	c.test("Batches chooses by creator, env and the state in which they were last acted upon", func(f *fixture) {
		a, _ := f.opened(1, func(b *batch.Batch) { b.Name, b.Tenant, b.Creator, b.Env = "one", "acme", "ada", "live" })
		b, _ := f.opened(1, func(b *batch.Batch) { b.Creator, b.Env = "Ada", "test" })
		d, _ := f.opened(1, func(b *batch.Batch) { b.Creator = `quote " and 語` })
		none, _ := f.opened(1)
		f.change(b.ID, func(b *batch.Record) { b.EndedAt, b.Tally = f.now(), batch.Tally{Success: 1} })
		for _, ask := range []struct {
			filter batch.Filter
			want   []int64
		}{
			{batch.Filter{Creators: []string{"ada"}}, []int64{a.ID}},
			{batch.Filter{Creators: []string{"ada", "Ada"}}, []int64{b.ID, a.ID}},
			{batch.Filter{Creators: []string{`quote " and 語`}}, []int64{d.ID}},
			{batch.Filter{Creators: []string{""}}, []int64{none.ID}},
			{batch.Filter{Envs: []string{"live", "test"}}, []int64{b.ID, a.ID}},
			{batch.Filter{Envs: []string{"live"}, Creators: []string{"Ada"}}, nil},
			{batch.Filter{States: []batch.State{batch.Success}}, []int64{b.ID}},
			{batch.Filter{States: []batch.State{batch.Success, batch.Fail}, Envs: []string{"live"}}, nil},
			{batch.Filter{States: []batch.State{batch.Running}}, []int64{none.ID, d.ID, a.ID}},
			{batch.Filter{States: []batch.State{batch.Pending}, Tenants: []string{"acme"}, Creators: []string{"ada"}}, []int64{a.ID}},
			{batch.Filter{States: []batch.State{batch.Pending}, Names: []string{"one"}, Envs: []string{"live"}}, []int64{a.ID}},
			{batch.Filter{Open: true, Creators: []string{"ada", "Ada"}}, []int64{a.ID}},
			{batch.Filter{IDs: []int64{a.ID, b.ID}, States: []batch.State{batch.Success}}, []int64{b.ID}},
		} {
			f.equal(named("what is found by", ask.filter), batchIDs(f.batches(ask.filter)), ask.want)
		}
	})
	c.test("a page has 100 batches unless the filter says otherwise", func(f *fixture) {
		var all []int64
		for range 103 {
			b := f.batch()
			f.change(b.ID, func(b *batch.Record) { b.Opened = true })
			all = append(all, b.ID)
		}
		slices.Reverse(all)
		f.equal("the first page", batchIDs(f.batches(batch.Filter{})), all[:100])
		f.equal("the second page", batchIDs(f.batches(batch.Filter{Below: all[99]})), all[100:])
	})
	c.test("chunks have the tasks of their own batch", func(f *fixture) {
		one, other := f.batch(), f.batch()
		mine, theirs := chunk(1, 2), chunk(1, 2)
		theirs.Tasks[0].Change.Target.ID = "of the other"
		f.addChunks(one, mine)
		f.addChunks(other, theirs)
		for it, want := range map[int64][]batch.ChunkTask{one.ID: mine.Tasks, other.ID: theirs.Tasks} {
			chunks := f.chunks(it, batch.ChunkFilter{Tasks: true})
			f.equal("the number of chunks", len(chunks), 1)
			f.equal("the tasks", chunks[0].Tasks, want)
		}
	})
	c.test("one that is opened again is open", func(f *fixture) {
		b, _ := f.opened(1)
		f.change(b.ID, func(b *batch.Record) { b.EndedAt = f.now() })
		f.equal("the open ones", len(f.batches(batch.Filter{Open: true})), 0)
		f.change(b.ID, func(b *batch.Record) { b.EndedAt = time.Time{} })
		f.equal("the open ones", batchIDs(f.batches(batch.Filter{Open: true})), []int64{b.ID})
	})
	c.test("those of its tasks that run are counted as running", func(f *fixture) {
		b, p := f.opened(5)
		f.letOut(b, p)
		node := f.join()
		claimed := f.claim(node, 3)
		want := batch.Tally{Pending: 2, Running: 3}
		f.equal("the tally", f.theBatch(b.ID).Tally, want)
		f.equal("the tally elsewhere", f.elsewhere().theBatch(b.ID).Tally, want)
		f.settle(wait(claimed[0]), to(fairlead.MoveRelease, claimed[1]))
		f.equal("the tally with one that waits", f.theBatch(b.ID).Tally, batch.Tally{Pending: 3, Running: 2})
		f.settle(to(fairlead.Succeed, claimed[2]))
		f.equal("the tally until its end is counted", f.theBatch(b.ID).Tally, batch.Tally{Pending: 4, Running: 1})
		var within batch.Tally
		f.change(b.ID, func(b *batch.Record) { within = b.Tally })
		f.equal("the tally as whoever acts upon it sees it", within, batch.Tally{Pending: 5})
	})
	c.test("those of other batches are not counted", func(f *fixture) {
		one, p := f.opened(2)
		other, q := f.opened(3)
		f.letOut(one, p)
		f.letOut(other, q)
		f.claim(f.join(), 3)
		f.equal("the tally", f.theBatch(one.ID).Tally, batch.Tally{Running: 2})
		f.equal("the tally of the other", f.theBatch(other.ID).Tally, batch.Tally{Pending: 2, Running: 1})
	})
	c.test("until Seen is SeenFor old, as many are counted as running as it says", func(f *fixture) {
		b, p := f.opened(9)
		f.letOut(b, p)
		f.claim(f.join(), 1)
		f.change(b.ID, func(b *batch.Record) {
			b.Tally = batch.Tally{Pending: 4, RetryPending: 3, RollbackPending: 2}
			b.Seen = batch.Seen{At: f.now(), Forward: 3, Retry: 2, Undo: 7}
		})
		want := batch.Tally{Pending: 1, RetryPending: 1, Running: 5, RollbackRunning: 2}
		f.equal("the tally", f.theBatch(b.ID).Tally, want)
		f.Advance(batch.SeenFor - 10*time.Millisecond)
		f.equal("the tally after a while", f.theBatch(b.ID).Tally, want)
		f.equal("the tally elsewhere", f.elsewhere().theBatch(b.ID).Tally, want)
		f.Advance(20 * time.Millisecond)
		counted := batch.Tally{Pending: 3, RetryPending: 3, Running: 1, RollbackPending: 2}
		f.equal("the tally then", f.theBatch(b.ID).Tally, counted)
		f.change(b.ID, func(b *batch.Record) { b.Seen.At = f.now().Add(time.Hour) })
		f.equal("the tally after a clock was set back", f.theBatch(b.ID).Tally, counted)
	})
	c.test("tasks that are retried or rolled back and run are counted as such", func(f *fixture) {
		b := f.batch()
		chunks := f.addChunks(b, marked(chunk(1, 4), "xxxx"), chunkOf(2, batch.PassRetry, 11, 2), chunkOf(3, batch.PassUndo, 21, 2))
		f.change(b.ID, func(b *batch.Record) {
			b.Opened, b.Total, b.HeldRetry, b.HeldUndo = true, 4, 2, 2
			b.Tally = batch.Tally{RetryPending: 2, RollbackPending: 2}
			b.Passes = []batch.Pass{{Number: 1, Kind: batch.PassForward, Tasks: 4}, {Number: 2, Kind: batch.PassRetry, Tasks: 2}, {Number: 3, Kind: batch.PassUndo, Tasks: 2}}
		})
		f.letOut(b, chunks[1])
		f.letOut(b, chunks[2])
		f.claim(f.join(), 3)
		f.equal("the tally", f.theBatch(b.ID).Tally, batch.Tally{Running: 2, RollbackPending: 1, RollbackRunning: 1})
	})
}

func testPruneBatches(c *chapter) {
	all := driver.Retention{Succeeded: time.Hour, Failed: 2 * time.Hour, Cancelled: 3 * time.Hour}
	prune := func(f *fixture, keep driver.Retention, limit int) int {
		f.Helper()
		n, err := f.store.Prune(f.ctx(), keep, limit)
		f.ok(err)
		return n
	}
	for _, end := range []struct {
		state batch.State
		tally batch.Tally
		kept  time.Duration
	}{
		{batch.Success, batch.Tally{Success: 3}, all.Succeeded},
		{batch.RollbackSuccess, batch.Tally{RollbackSuccess: 3}, all.Succeeded},
		{batch.Fail, batch.Tally{Fail: 3}, all.Failed},
		{batch.PartialFail, batch.Tally{Fail: 1, Success: 2}, all.Failed},
		{batch.RollbackFail, batch.Tally{RollbackFail: 3}, all.Failed},
		{batch.Cancel, batch.Tally{Cancel: 3}, all.Cancelled},
	} {
		c.test(named("Prune removes a batch in", end.state, "that is older than its retention, with its chunks"), func(f *fixture) {
			b, _ := f.opened(3)
			f.addChunks(b, chunkOf(2, batch.PassThen, 11, 1))
			open, _ := f.opened(3)
			f.change(b.ID, func(b *batch.Record) {
				b.Tally, b.EndedAt, b.Cancelled = end.tally, f.now(), end.state == batch.Cancel
			})
			f.equal("its state", stateOf(f.theBatch(b.ID)), end.state)
			f.Advance(end.kept - time.Microsecond)
			prune(f, all, 10)
			f.equal("the batches before", batchIDs(f.batches(batch.Filter{})), []int64{open.ID, b.ID})
			f.Advance(2 * time.Microsecond)
			prune(f, all, 10)
			f.equal("the batches", batchIDs(f.batches(batch.Filter{})), []int64{open.ID})
			f.equal("its chunks", len(f.chunks(b.ID, batch.ChunkFilter{})), 0)
			f.equal("the chunks of another", len(f.chunks(open.ID, batch.ChunkFilter{Tasks: true})), 1)
			f.wantErr(f.store.AddChunks(f.ctx(), b.ID, []batch.Chunk{chunk(1, 3)}), fairlead.ErrNotFound)
		})
	}
	c.test("Prune keeps batches forever if their retention is zero, at most limit of others go, and these are counted", func(f *fixture) {
		for range 3 {
			b, _ := f.opened(1)
			f.change(b.ID, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{Success: 1}, f.now() })
		}
		f.Advance(1000 * time.Hour)
		f.equal("how many go without retention", prune(f, driver.Retention{Failed: time.Hour, Cancelled: time.Hour}, 10), 0)
		f.equal("the batches", len(f.batches(batch.Filter{})), 3)
		f.equal("how many go", prune(f, all, 2), 2)
		f.equal("the batches", len(f.batches(batch.Filter{})), 1)
	})
	c.test("Prune removes batches that were not opened within a day", func(f *fixture) {
		b := f.batch()
		f.addChunks(b, chunk(1, 3))
		f.Advance(24*time.Hour - time.Microsecond)
		fresh := f.batch()
		prune(f, driver.Retention{}, 10)
		f.equal("its chunks before", len(f.chunks(b.ID, batch.ChunkFilter{})), 1)
		f.Advance(2 * time.Microsecond)
		prune(f, driver.Retention{}, 10)
		f.equal("what is left", batchIDs(f.batches(batch.Filter{IDs: []int64{b.ID, fresh.ID}})), []int64{fresh.ID})
		f.equal("its chunks", len(f.chunks(b.ID, batch.ChunkFilter{})), 0)
	})
	c.test("Prune removes at most limit of those that were not opened", func(f *fixture) {
		for range 3 {
			f.batch()
		}
		f.Advance(25 * time.Hour)
		f.equal("how many go", []int{prune(f, driver.Retention{}, 2), prune(f, driver.Retention{}, 2)}, []int{2, 1})
	})
	c.test("Verify counts the tasks of open batches anew, corrects what differs and reports it", func(f *fixture) {
		b, p := f.opened(3)
		f.letOut(b, p)
		f.claim(f.join(), 1)
		f.wantNoDrift()
		f.change(b.ID, func(b *batch.Record) { b.Tally, b.Out = batch.Tally{Pending: 1, Success: 2}, 1 })
		drift, err := f.store.Verify(f.ctx())
		f.ok(err)
		f.equal("the drift", len(drift), 3)
		for _, d := range drift {
			f.equal("its scope", d.Scope, driver.DriftBatch)
		}
		f.equal("the tally", f.theBatch(b.ID).Tally, batch.Tally{Pending: 2, Running: 1})
		f.equal("what is out", f.theBatch(b.ID).Out, 3)
		f.wantNoDrift()
	})
}

func stateOf(b batch.Record) batch.State { return b.State() }
