package batch_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// jobs are the IDs of a batch's jobs, page by page.
func (m *moving) jobs(id int64, limit int) (ids []int64, pages int) {
	m.Helper()
	filter := batch.JobFilter{Batch: id, Limit: limit}
	for more := true; more; more = filter.Below != 0 {
		page, err := m.batches.Jobs(m.outer.Context(), filter)
		m.ok(err)
		if limit > 0 && len(page.IDs) > limit {
			m.Fatalf("a page has %d jobs, and at most %d were asked for", len(page.IDs), limit)
		}
		ids, filter.Below = append(ids, page.IDs...), page.Next
		pages++
	}
	return ids, pages
}

// stored are the IDs of the jobs that say that they are of a batch, largest first.
func (m *moving) stored(id int64) (ids []int64) {
	m.Helper()
	jobs, err := m.store.Find(m.outer.Context(), fairlead.Filter{Limit: 10_000})
	m.ok(err)
	for _, job := range jobs {
		if job.Batch == id {
			ids = append(ids, job.ID)
		}
	}
	return ids
}

func TestTheJobsOfABatchAreThoseOfEveryPassLargestFirst(t *testing.T) {
	m := newMoving(t)
	other := m.create(3)
	m.look(other.ID)
	const tasks = 2*batch.ChunkSize + 7
	b := m.create(tasks, func(b *batch.Batch) { b.Then = []fairlead.Job{{Kind: "celebrate"}} })
	m.look(b.ID)
	m.equal("the jobs of the other batch", len(m.stored(other.ID)), 3)
	m.fail(m.start(9)...)
	m.finish(b.ID)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	m.finish(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.finish(b.ID)
	want := m.stored(b.ID)
	if len(want) <= 2*tasks {
		t.Fatalf("%d jobs were made; the passes forward and back alone have %d", len(want), 2*tasks)
	}
	limits := tier.Size(t, []int{0, 7, batch.ChunkSize, tasks, 10_000}, []int{0, 1, 7, batch.ChunkSize, tasks, 10_000}, "thousands of pages of one job")
	for _, limit := range limits {
		got, _ := m.jobs(b.ID, limit)
		m.equal("the jobs", got, want)
	}
}

func TestAPageOfJobsBeginsBelowAnyID(t *testing.T) {
	m := newMoving(t)
	b := m.create(12)
	m.finish(b.ID)
	all := m.stored(b.ID)
	for i, id := range all {
		page, err := m.batches.Jobs(t.Context(), batch.JobFilter{Batch: b.ID, Below: id})
		m.ok(err)
		if !slices.Equal(page.IDs, all[i+1:]) || page.Next != 0 {
			t.Errorf("below %d there are %v, and then %d", id, page.IDs, page.Next)
		}
	}
}

func TestTasksThatWereNotReleasedHaveNoJobs(t *testing.T) {
	m := newMoving(t)
	b := m.create(10, func(b *batch.Batch) { b.MaxRunning = 3 })
	m.look(b.ID)
	released := m.stored(b.ID)
	if len(released) == 0 || len(released) == 10 {
		t.Fatalf("%d of 10 tasks were released", len(released))
	}
	got, _ := m.jobs(b.ID, 2)
	m.equal("the jobs", got, released)
}

func TestAPageOfJobsEndsEarlyWhereFewOfManyTasksWereReleased(t *testing.T) {
	m := newMoving(t)
	b := m.acted(m.store.CreateBatch(t.Context(), batch.Batch{Name: "spring", Type: "move", Queue: m.queue, Tenant: fairlead.DefaultTenant}))
	const size = 1000
	chunks := make([]batch.Chunk, size)
	for i := range chunks {
		chunks[i] = batch.Chunk{Number: 200_000 + i, Pass: 1, Kind: batch.PassForward, Size: 1, Held: 1, Marks: batch.NewMarks(1), Tasks: make([]batch.ChunkTask, 1)}
	}
	m.ok(m.store.AddChunks(t.Context(), b.ID, chunks))
	_, err := m.store.Conduct(t.Context(), b.ID, true, func(ctx context.Context, record *batch.Record, tx batch.Tx) error {
		record.Opened, record.Total = true, size
		record.Passes = []batch.Pass{{Number: 1, Kind: batch.PassForward, Tasks: size}}
		chunks[0].States[0], chunks[0].Held, chunks[0].Out = batch.MarkOut, 0, 1
		return tx.SaveChunks(ctx, chunks[:1])
	})
	m.ok(err)
	got, pages := m.jobs(b.ID, 100)
	m.equal("the jobs", got, []int64{chunks[0].First})
	if pages < 3 || pages > 20 {
		t.Errorf("the one job was found on page %d", pages)
	}
}

func TestTheJobsOfNoBatchAreNotFound(t *testing.T) {
	m := newMoving(t)
	if _, err := m.batches.Jobs(t.Context(), batch.JobFilter{Batch: 77}); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
