package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

func testConduct(c *chapter) {
	c.test("Conduct keeps what act changed of the batch, but for what stays as it is", func(f *fixture) {
		b := f.batch(func(b *batch.Batch) { b.Creator = "me" })
		want := batch.Record{Batch: b}
		f.conduct(b.ID, func(_ context.Context, b *batch.Record, _ batch.Tx) error {
			b.ID, b.Name, b.Type, b.Queue, b.Tenant, b.Creator, b.CreatedAt = 1000, "x", "x", "x", "x", "x", time.Unix(1, 0)
			b.MaxRunning, b.Rate, b.Description = 3, 1.5, "slower"
			b.Status, b.Ledger = everyStatus(want.CreatedAt), everyLedger(want.CreatedAt)
			return nil
		})
		want.MaxRunning, want.Rate, want.Description = 3, 1.5, "slower"
		want.Status, want.Ledger = everyStatus(want.CreatedAt), everyLedger(want.CreatedAt)
		f.equal("the batch", f.theBatch(b.ID), want)
		var within batch.Record
		f.elsewhere().change(b.ID, func(b *batch.Record) { within = *b })
		f.equal("the batch as act sees it", within, want)
	})
	c.test("unless act returns an error: then nothing is kept, and Conduct fails with it", func(f *fixture) {
		b, p := f.opened(4)
		first := f.letOut(b, p)[:1]
		node := f.join()
		f.claim(node, 1)
		more := f.addChunks(b, chunk(2, 2))[0]
		before, chunks := f.theBatch(b.ID), f.chunks(b.ID, batch.ChunkFilter{})
		for _, refusal := range []error{errors.New("no"), fairlead.ErrConflict, fairlead.ErrNotFound} {
			_, err := f.store.Conduct(f.ctx(), b.ID, true, func(ctx context.Context, b *batch.Record, tx batch.Tx) error {
				b.Paused, b.Tally = true, batch.Tally{Fail: 4}
				if err := tx.SaveChunks(ctx, []batch.Chunk{marked(p, "sfhc"), marked(more, "oo")}); err != nil {
					return err
				}
				if err := tx.Enqueue(ctx, taskJobs(b.Batch, more)); err != nil {
					return err
				}
				if _, err := tx.Recall(ctx, p.First, p.Last()); err != nil {
					return err
				}
				return refusal
			})
			f.wantErr(err, refusal)
			f.equal("the batch", f.theBatch(b.ID), before)
			f.equal("the chunks", f.chunks(b.ID, batch.ChunkFilter{}), chunks)
			f.wantState(first[0], fairlead.Running)
			f.equal("the jobs", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 3, fairlead.Running: 1})
		}
		f.equal("what can still be claimed", len(f.claim(node, 10)), 3)
	})
	c.test("Conduct fails with ErrNotFound, and does not call act", func(f *fixture) {
		for _, wait := range []bool{true, false} {
			_, err := f.store.Conduct(f.ctx(), f.batch().ID+1000, wait, func(context.Context, *batch.Record, batch.Tx) error {
				return errors.New("act was called")
			})
			f.wantErr(err, fairlead.ErrNotFound)
		}
	})
	c.test("nodes that may run the enqueued jobs are woken", func(f *fixture) {
		b, p := f.opened(2)
		l := f.listen(everything())
		f.letOut(b, p)
		if !l.heard(driver.WakeWork, patient) {
			f.Fatal("nobody was woken")
		}
	})
}

// everyStatus returns a status with all fields set, except Awaiting, which is not stored.
func everyStatus(at time.Time) batch.Status {
	return batch.Status{
		Total: 1, Tally: batch.Tally{Pending: 2, RetryPending: 3, Success: 4, Fail: 5, RollbackPending: 6, RollbackSuccess: 7, RollbackFail: 8, Cancel: 9},
		Unclear: 14, Doubtful: 27, Undoing: true, Cancelled: true, Paused: true, Reason: "why", Approved: true,
		Passes:      []batch.Pass{{Number: 1, Kind: batch.PassForward, Tasks: 16, Serial: true}},
		Completions: 20, StartedAt: at.Add(4 * time.Second), EndedAt: at.Add(5 * time.Second),
	}
}

// everyLedger returns a ledger with all fields set.
func everyLedger(at time.Time) batch.Ledger {
	return batch.Ledger{
		Opened: true, Held: 10, HeldRetry: 11, HeldUndo: 12, Out: 13, OutUndo: 21,
		Undo: batch.Wanted{Kind: batch.PassUndo, Failed: true, Serial: true}, Forgiven: 15,
		Wanted: []batch.Wanted{{Number: 22, Kind: batch.PassUndo, Tasks: []int64{17}, Failed: true, Serial: true}, {Kind: batch.PassRetry}}, Wants: 23,
		Tries: 18, PreparedAt: at.Add(time.Second),
		Ahead: 19, OutAt: at.Add(2 * time.Second), Saved: 0.25, SoughtAt: at.Add(3 * time.Second),
		Seen:   batch.Seen{At: at.Add(-time.Hour), Forward: 24, Retry: 25, Undo: 26},
		Losses: []batch.Loss{{Fence: 28, Job: 29}}, LossSeen: 30, Combed: 31,
	}
}

func testBatchTx(c *chapter) {
	c.test("Now is the database's clock", func(f *fixture) {
		b := f.batch()
		for range 2 {
			var now time.Time
			f.conduct(b.ID, func(_ context.Context, _ *batch.Record, tx batch.Tx) error {
				now = tx.Now()
				return nil
			})
			f.equal("the time", now, f.now())
			f.Advance(time.Minute + time.Microsecond)
		}
	})
	c.test("SaveChunks keeps Held, Out and the marks of chunks, and nothing else of them", func(f *fixture) {
		b := f.batch()
		f.addChunks(b, chunk(1, 3), chunk(2, 3), chunk(3, 3))
		want := f.chunks(b.ID, batch.ChunkFilter{Tasks: true})
		for _, i := range []int{0, 2} {
			want[i] = marked(want[i], []string{"osf", "", "hxd"}[i])
			want[i].Ended, want[i].Before = []int64{0, 5, 1234567890123}, map[int]json.RawMessage{2: json.RawMessage(`{"a":"ü"}`)}
		}
		var within []batch.Chunk
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
			changed := []batch.Chunk{want[2], want[0]}
			for i := range changed {
				changed[i].Pass, changed[i].Kind, changed[i].First, changed[i].Size, changed[i].Tasks = 9, batch.PassUndo, 1, 1, nil
			}
			if err := tx.SaveChunks(ctx, changed); err != nil {
				return err
			}
			within, err = tx.Chunks(ctx, batch.ChunkFilter{Tasks: true})
			return err
		})
		f.equal("the chunks in the same transaction", within, want)
		f.equal("the chunks", f.chunks(b.ID, batch.ChunkFilter{Tasks: true}), want)
		f.equal("those held", numbers(f.chunks(b.ID, batch.ChunkFilter{Held: true})), []int{2, 3})
		f.equal("those out", numbers(f.chunks(b.ID, batch.ChunkFilter{Out: true})), []int{1})
	})
	c.test("Ends tells which jobs of a range of IDs are final, in order", func(f *fixture) {
		b, p := f.opened(9)
		jobs := f.letOut(b, p)
		claimed := f.claim(f.join(), 8)
		f.Advance(time.Second)
		f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: claimed[2].ID, Fence: claimed[2].Fence, Memo: json.RawMessage(`{"before":{"x":1}}`)}))
		failed := to(fairlead.Fail, claimed[3])
		failed.Reason = fairlead.ReasonTimeout
		f.settle(failed, to(fairlead.Succeed, claimed[2]), to(fairlead.Succeed, claimed[0]), to(fairlead.Drop, claimed[4]),
			again(claimed[5], time.Hour), wait(claimed[6]), to(fairlead.Succeed, claimed[7]))
		f.ok(operations(f.store).Cancel(f.ctx(), jobs[8].ID, "no more"))
		var ends []batch.TaskEnd
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
			ends, err = tx.Ends(ctx, p.First, p.Last()-1)
			return err
		})
		now, fence := f.now(), claimed[0].Fence
		f.equal("the ends", ends, []batch.TaskEnd{
			{ID: p.First, Fence: fence, State: fairlead.Succeeded, Attempt: 1, FinishedAt: now},
			{ID: p.First + 2, Fence: fence, State: fairlead.Succeeded, Attempt: 1, FinishedAt: now, Memo: json.RawMessage(`{"before":{"x":1}}`)},
			{ID: p.First + 3, Fence: fence, State: fairlead.Failed, Failures: 1, Reason: fairlead.ReasonTimeout, Attempt: 1, FinishedAt: now},
			{ID: p.First + 4, Fence: fence, State: fairlead.Cancelled, Reason: f.get(jobs[4]).Reason, Attempt: 1, FinishedAt: now},
			{ID: p.First + 7, Fence: fence, State: fairlead.Succeeded, Attempt: 1, FinishedAt: now},
		})
	})
	c.test("Known tells which IDs of a range are those of jobs, in order", func(f *fixture) {
		b, p := f.opened(6)
		jobs := f.letOut(b, p)
		claimed := f.claim(f.join(), 4)
		f.settle(to(fairlead.Succeed, claimed[0]), wait(claimed[1]), again(claimed[2], time.Hour))
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error {
			_, err := tx.Recall(ctx, jobs[4].ID, jobs[4].ID)
			return err
		})
		var known []int64
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
			known, err = tx.Known(ctx, p.First, p.Last()+1)
			return err
		})
		f.equal("the IDs", known, []int64{p.First, p.First + 1, p.First + 2, p.First + 3, p.First + 5})
	})
	c.test("Running tells how many jobs of a range of IDs run, or wait for a callback", func(f *fixture) {
		b, p := f.opened(9)
		f.letOut(b, p)
		claimed := f.claim(f.join(), 8)
		f.settle(to(fairlead.Succeed, claimed[1]), wait(claimed[2]), again(claimed[3], time.Hour), to(fairlead.Fail, claimed[4]))
		var running []int
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error {
			running = nil
			for _, last := range []int64{p.Last(), p.First + 2, p.First - 1} {
				n, err := tx.Running(ctx, p.First, last)
				if err != nil {
					return err
				}
				running = append(running, n)
			}
			return nil
		})
		f.equal("how many", running, []int{5, 2, 0})
	})
	c.test("Enqueue makes jobs under the IDs that they have", func(f *fixture) {
		b, p := f.opened(3, func(b *batch.Batch) { b.Queue, b.Tenant = "sg", "acme" })
		other := f.addChunks(b, chunk(2, 2))[0]
		jobs := append(taskJobs(b, p, priority(3)), taskJobs(b, other)[1])
		jobs[0].Args, jobs[1].Timeout, jobs[2].Trace = json.RawMessage(`{"n": 1}`), time.Minute, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		jobs[3].Kind = "other"
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error { return tx.Enqueue(ctx, jobs) })
		for _, job := range jobs {
			found := f.wantState(job, fairlead.Ready)
			f.equal("what is known of it", found, &fairlead.Job{
				ID: job.ID, Kind: job.Kind, Args: job.Args, Queue: "sg", Tenant: "acme", Priority: job.Priority, StartBy: f.now(),
				Timeout: job.Timeout, Trace: job.Trace, OnCrash: found.OnCrash,
				Status: fairlead.Status{State: fairlead.Ready, Batch: b.ID, CreatedAt: f.now()},
			})
		}
		f.equal("what is found", f.find(fairlead.Filter{IDs: ids(jobs)})[3].Batch, b.ID)
		claimed := f.wantClaim(f.join(), everything(kind, "other"), jobs...)
		for _, job := range claimed {
			f.equal("the batch of a claimed job", job.Batch, b.ID)
		}
	})
	c.test("Enqueue makes jobs of IDs that are not next to one another", func(f *fixture) {
		b, p := f.opened(9)
		jobs := taskJobs(b, p)
		f.enqueue(plain())
		for _, some := range [][]*fairlead.Job{{jobs[1], jobs[4], jobs[5], jobs[8]}, {jobs[0], jobs[2]}, {jobs[3], jobs[6], jobs[7]}} {
			f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error { return tx.Enqueue(ctx, some) })
		}
		f.equal("the jobs", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 10})
		f.wantState(jobs[8], fairlead.Ready)
	})
	c.test("Enqueue makes thousands of jobs of several chunks and kinds at once", func(f *fixture) {
		b := f.batch()
		var jobs []*fairlead.Job
		for _, p := range f.addChunks(b, chunk(1, batch.ChunkSize), chunk(2, batch.ChunkSize), chunk(3, 77)) {
			jobs = append(jobs, taskJobs(b, p)...)
		}
		for i, job := range jobs {
			if i%3 == 0 {
				job.Kind = "other"
			}
		}
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error { return tx.Enqueue(ctx, jobs) })
		f.equal("the jobs", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: int64(len(jobs))})
		f.equal("what is claimed", ids(f.claimAs(driver.Claim{Node: f.join(), Scope: everything(kind, "other"), Max: len(jobs)})), sorted(ids(jobs)))
	})
	c.test("how many jobs their tenant may have pending does not count", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		b, p := f.opened(3, func(b *batch.Batch) { b.Tenant = "acme" })
		f.letOut(b, p)
		f.equal("its jobs", f.tally(fairlead.Filter{Tenants: []string{"acme"}}), map[fairlead.State]int64{fairlead.Ready: 3})
	})
}
