package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// testConductor covers the operations for batches of tasks.
func testConductor(c *chapter) {
	testCreateBatch(c)
	testChunks(c)
	testListBatches(c)
	testConduct(c)
	testBatchTx(c)
	testTurns(c)
	testRecall(c)
	testStartedTasks(c)
	testPruneBatches(c)
	testDeleteBatch(c)
	testConductorRaces(c)
}

// batch stores a batch without tasks.
func (f *fixture) batch(changes ...func(*batch.Batch)) batch.Batch {
	f.Helper()
	b := batch.Batch{Name: "move them", Type: "move"}
	for _, change := range changes {
		change(&b)
	}
	f.ok(batch.Normalize(&b))
	stored, err := f.store.CreateBatch(f.ctx(), b)
	f.ok(err)
	return stored
}

// chunk returns a chunk of the first pass without released tasks.
func chunk(number, size int) batch.Chunk { return chunkOf(1, batch.PassForward, number, size) }

// chunkOf returns a chunk of any pass.
func chunkOf(pass int, kind batch.PassKind, number, size int) batch.Chunk {
	p := batch.Chunk{Number: number, Pass: pass, Kind: kind, Size: size, Held: size, Marks: batch.NewMarks(size)}
	for i := range size {
		p.Tasks = append(p.Tasks, batch.ChunkTask{Change: batch.Change{Target: batch.Target{ID: fmt.Sprint(number, ".", i), Type: "box"}}})
	}
	return p
}

// addChunks stores chunks and returns them with their IDs.
func (f *fixture) addChunks(b batch.Batch, chunks ...batch.Chunk) []batch.Chunk {
	f.Helper()
	f.ok(f.store.AddChunks(f.ctx(), b.ID, chunks))
	return chunks
}

// act is an action on a batch under its lock.
type act = func(ctx context.Context, b *batch.Record, tx batch.Tx) error

// conduct acts on a batch, and waits for concurrent actions.
func (f *fixture) conduct(id int64, do act) {
	f.Helper()
	begun, err := f.store.Conduct(f.ctx(), id, true, do)
	f.ok(err)
	f.equal("it was acted upon", begun, true)
}

// change changes a batch.
func (f *fixture) change(id int64, change func(*batch.Record)) {
	f.Helper()
	f.conduct(id, func(_ context.Context, b *batch.Record, _ batch.Tx) error {
		change(b)
		return nil
	})
}

// opened stores and opens a batch with the given number of tasks in one chunk.
func (f *fixture) opened(tasks int, changes ...func(*batch.Batch)) (batch.Batch, batch.Chunk) {
	f.Helper()
	b := f.batch(changes...)
	p := f.addChunks(b, chunk(1, tasks))[0]
	f.change(b.ID, func(b *batch.Record) {
		b.Opened, b.Total, b.Held = true, tasks, tasks
		b.Tally = batch.Tally{Pending: tasks}
		b.Passes = []batch.Pass{{Number: 1, Kind: batch.PassForward, Tasks: tasks}}
	})
	return b, p
}

// taskJobs returns the jobs for all tasks of a chunk.
func taskJobs(b batch.Batch, p batch.Chunk, changes ...func(*fairlead.Job)) []*fairlead.Job {
	jobs := many(p.Size, changes...)
	for i, job := range jobs {
		job.ID, job.Batch = p.First+int64(i), b.ID
		job.Queue, job.Tenant = b.Queue, b.Tenant
	}
	return jobs
}

// letOut enqueues the jobs for all tasks of a chunk.
func (f *fixture) letOut(b batch.Batch, p batch.Chunk) []*fairlead.Job {
	f.Helper()
	jobs := taskJobs(b, p)
	f.conduct(b.ID, func(ctx context.Context, b *batch.Record, tx batch.Tx) error {
		for i := range p.States {
			p.States[i] = batch.MarkOut
		}
		p.Held, p.Out = 0, p.Size
		b.Held, b.Out = b.Held-p.Size, b.Out+p.Size
		if err := tx.SaveChunks(ctx, []batch.Chunk{p}); err != nil {
			return err
		}
		return tx.Enqueue(ctx, jobs)
	})
	return jobs
}

func (f *fixture) batches(filter batch.Filter) []batch.Record {
	f.Helper()
	list, err := f.store.Batches(f.ctx(), filter)
	f.ok(err)
	return list
}

// theBatch reads a batch.
func (f *fixture) theBatch(id int64) batch.Record {
	f.Helper()
	found := f.batches(batch.Filter{IDs: []int64{id}})
	if len(found) != 1 {
		f.Fatalf("%d batches have the ID %d", len(found), id)
	}
	return found[0]
}

func batchIDs(list []batch.Record) []int64 {
	ids := make([]int64, len(list))
	for i, b := range list {
		ids[i] = b.ID
	}
	return ids
}

func (f *fixture) chunks(batch int64, filter batch.ChunkFilter) []batch.Chunk {
	f.Helper()
	list, err := f.store.Chunks(f.ctx(), batch, filter)
	f.ok(err)
	return list
}

func numbers(chunks []batch.Chunk) []int {
	list := make([]int, len(chunks))
	for i, p := range chunks {
		list[i] = p.Number
	}
	return list
}

// marked sets the marks of a chunk and its counts.
func marked(p batch.Chunk, text string) batch.Chunk {
	p.States, p.Held, p.Out = make([]batch.Mark, len(text)), 0, 0
	for i := range text {
		p.States[i] = batch.Mark(text[i])
		switch p.States[i] {
		case batch.MarkHeld:
			p.Held++
		case batch.MarkOut:
			p.Out++
		}
	}
	return p
}

// forgetBatches ends all batches and lets Prune delete them.
func (f *fixture) forgetBatches() error {
	batches, err := f.store.Batches(f.ctx(), batch.Filter{Limit: 2 * tooMany})
	if err != nil || len(batches) == 0 {
		return err
	}
	for _, b := range batches {
		if _, err := f.store.Conduct(f.ctx(), b.ID, true, func(_ context.Context, b *batch.Record, tx batch.Tx) error {
			b.EndedAt = tx.Now()
			return nil
		}); err != nil {
			return err
		}
	}
	f.Advance(2 * time.Hour)
	_, err = f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour}, 2*tooMany)
	return err
}

func testCreateBatch(c *chapter) {
	c.test("CreateBatch stores a batch without tasks and returns it with its ID and CreatedAt", func(f *fixture) {
		want := batch.Batch{
			Name: "Züge ", Type: "move", Description: "a\nb", Creator: "me@example.com", Env: "live", AZ: "az 1", Service: "s",
			Info: json.RawMessage(`{"b" : 1.0,"a":"ü"}`), Queue: "sg", Tenant: "acme", Priority: -3, MaxRunning: 7, Rate: 2.5, Timeout: 20 * time.Second,
			Canary: batch.Canary{Tasks: 5, Ratio: 0.9}, StopAfter: batch.Threshold{Failures: 3, Percent: 1.5},
			Then:   []fairlead.Job{{Kind: "tell", Args: json.RawMessage(`{ "x":1 }`), Priority: 4, Timeout: time.Second, Retry: &fairlead.Retry{Base: time.Second, Max: time.Minute, Factor: 2}}},
			Notify: "https://example.com/told?x=1",
		}
		f.ok(batch.Normalize(&want))
		stored, err := f.store.CreateBatch(f.ctx(), want)
		f.ok(err)
		want.ID, want.CreatedAt = stored.ID, f.now()
		f.equal("the answer", stored, want)
		f.equal("the batch, and its empty ledger", f.theBatch(stored.ID), batch.Record{Batch: want})
		f.equal("the batch elsewhere", f.elsewhere().theBatch(stored.ID), batch.Record{Batch: want})
		f.equal("its chunks", len(f.chunks(stored.ID, batch.ChunkFilter{})), 0)
	})
	c.test("IDs of batches grow", func(f *fixture) {
		g := f.elsewhere()
		first, second, third := f.batch(), f.batch(), g.batch()
		if first.ID <= 0 || second.ID <= first.ID || third.ID <= second.ID {
			f.Fatalf("%d, %d and %d do not grow", first.ID, second.ID, third.ID)
		}
	})
	c.test("a batch whose tasks are not all stored is chosen only by its ID", func(f *fixture) {
		b := f.batch()
		f.addChunks(b, chunk(1, 3))
		f.equal("all batches", len(f.batches(batch.Filter{})), 0)
		f.equal("the open ones", len(f.batches(batch.Filter{Open: true})), 0)
		f.equal("those of its name", len(f.batches(batch.Filter{Names: []string{b.Name}})), 0)
		f.equal("that of its ID", batchIDs(f.batches(batch.Filter{IDs: []int64{b.ID}})), []int64{b.ID})
		f.equal("its jobs", len(f.find(fairlead.Filter{})), 0)
	})
}
