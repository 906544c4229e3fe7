package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// What a batch costs follows how many tasks it releases, and neither how many have ended
// nor how many chunks it has.
func TestPlansNeverScanBatches(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, withParams(t, at, "pool_max_conns", "1"), Options{ListenURL: noListening})
	plans := spyOnPlans(t, store, at)
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"batch", "part", "part_task", "job", "done", "ready", "later"} {
		exec(t, at, "alter table fairlead_"+table+" set unlogged, set (autovacuum_enabled = off)")
	}
	batchVerbs(t, store, node, "empty") // every statement is planned, on empty tables
	multiplyBatches(t, at, 1000, tier.Size(t, 500, 2000, "has larger tables"))
	plans.forget()
	batchVerbs(t, store, node, "full")
	t.Run("without statistics", func(t *testing.T) { checkPlans(t, store, plans.seen()) })

	exec(t, at, "update pg_class set reltuples = 0, relpages = greatest(relpages, 1) where oid in (select indexrelid from pg_index where indrelid::regclass::text like 'fairlead_%') or oid::regclass::text like 'fairlead_%'")
	plans.forget()
	batchVerbs(t, store, node, "misled")
	t.Run("with statistics of a moment when nothing was there", func(t *testing.T) { checkPlans(t, store, plans.seen()) })

	exec(t, at, "analyze")
	plans.forget()
	batchVerbs(t, store, node, "informed")
	t.Run("with statistics", func(t *testing.T) { checkPlans(t, store, plans.seen()) })
}

// multiplyBatches stores batches that have ended like the first one, a moment ago, and
// gives each of them, and one that is open, chunks.
func multiplyBatches(t *testing.T, at string, batches, chunks int) {
	t.Helper()
	exec(t, at, fmt.Sprintf(`
		insert into fairlead_batch (created_at, ended_at, opened, open, name, type, queue, tenant, state, status, body)
		select created_at, 4e15::bigint + n, true, false, 'copy ' || n, type, queue, 'tenant ' || n %% 100, 'success', status, body
		from (select * from fairlead_batch order by id limit 1) b, generate_series(1, %d) n`, batches))
	exec(t, at, fmt.Sprintf(`
		with made as (
			insert into fairlead_part (batch, number, pass, kind, first_job, size, held, out_, marks)
			select b.id, n, 1, 'forward', -500 * (b.id * %[1]d + n), 1, 0, 0, '{"s":"s"}'
			from (select id from fairlead_batch order by id limit 20) b, generate_series(1, %[1]d) n
			on conflict do nothing
			returning batch, number
		)
		insert into fairlead_part_task (batch, number, tasks) select batch, number, '[{}]' from made`, chunks))
}

// batchVerbs does everything that happens to batches.
func batchVerbs(t *testing.T, s *Store, node fairlead.NodeID, name string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range 7 {
		b := batch.Batch{Name: fmt.Sprint(name, " ", round), Type: "move", Tenant: "tenant 1"}
		must(batch.Normalize(&b))
		b, err := s.CreateBatch(ctx, b)
		must(err)
		added := make([]batch.Chunk, 3)
		for i := range added {
			added[i] = batch.Chunk{Number: 10_000 + i, Pass: 1 + i/2, Kind: batch.PassForward, Size: 20, Held: 20, Marks: batch.NewMarks(20), Tasks: make([]batch.ChunkTask, 20)}
		}
		must(s.AddChunks(ctx, b.ID, added))
		must(s.DropChunks(ctx, b.ID, 2))
		_, err = s.Conduct(ctx, b.ID, true, letOutAll)
		must(err)
		jobs, err := s.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 25})
		must(err)
		for i, job := range jobs[:22] {
			moves := []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again}
			_, err := s.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: moves[i%len(moves)], After: time.Hour}})
			must(err)
		}
		for _, filter := range []batch.Filter{
			{}, {Open: true}, {IDs: []int64{b.ID}}, {Names: []string{b.Name}}, {Tenants: []string{"tenant 1", "tenant 2"}}, {Types: []string{"move"}, Below: b.ID},
		} {
			_, err := s.Batches(ctx, filter)
			must(err)
		}
		for _, filter := range []batch.ChunkFilter{{}, {After: 10_000, Limit: 5}, {Numbers: []int{10_000}, Tasks: true}, {Out: true}, {Held: true, Kind: batch.PassUndo}} {
			_, err := s.Chunks(ctx, b.ID, filter)
			must(err)
		}
		_, err = s.Conduct(ctx, b.ID, false, lookAndEnd)
		must(err)
		if round == 0 {
			must(s.DeleteBatch(ctx, b.ID))
		}
		_, err = s.Prune(ctx, driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour}, 100)
		must(err)
		_, err = s.Prune(ctx, driver.Retention{Failed: time.Microsecond}, 1)
		must(err)
	}
}

// letOutAll opens a batch and makes jobs of its tasks.
func letOutAll(ctx context.Context, b *batch.Record, tx batch.Tx) error {
	chunks, err := tx.Chunks(ctx, batch.ChunkFilter{Held: true, Tasks: true, Limit: 2})
	if err != nil {
		return err
	}
	var jobs []*fairlead.Job
	for i := range chunks {
		p := &chunks[i]
		for k := range p.States {
			p.States[k] = batch.MarkOut
			job := &fairlead.Job{ID: p.First + int64(k), Kind: "test", Queue: b.Queue, Tenant: b.Tenant}
			job.Batch = b.ID
			jobs = append(jobs, job)
		}
		p.Held, p.Out = 0, p.Size
	}
	if err := tx.SaveChunks(ctx, chunks); err != nil {
		return err
	}
	b.Opened, b.Out, b.Tally = true, len(jobs), batch.Tally{Pending: len(jobs)}
	return tx.Enqueue(ctx, jobs)
}

// lookAndEnd asks all that can be asked, and ends the batch. Ends are looked for in
// ranges first, then one by one.
func lookAndEnd(ctx context.Context, b *batch.Record, tx batch.Tx) error {
	for range 2 {
		chunks, err := tx.Chunks(ctx, batch.ChunkFilter{Out: true})
		if err != nil {
			return err
		}
		for i := range chunks {
			p := &chunks[i]
			_, ends := tx.Ends(ctx, p.First, p.Last())
			_, known := tx.Known(ctx, p.First, p.Last())
			_, recall := tx.Recall(ctx, p.First, p.Last())
			if err := errors.Join(ends, known, recall); err != nil {
				return err
			}
			for k := range 15 {
				p.States[k] = batch.MarkDone
			}
			p.Out = 5
		}
		if err := tx.SaveChunks(ctx, chunks); err != nil {
			return err
		}
	}
	b.EndedAt = tx.Now()
	return nil
}
