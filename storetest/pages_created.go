package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// testOutOfOrder is about jobs whose ids are not in the order in which they were created.
func testOutOfOrder(c *chapter) {
	c.test("jobs are found by when they were created though a batch that completes makes jobs with smaller ids later", func(f *fixture) {
		then := f.setAside(450)
		early := slices.Concat(many(20), many(150))
		f.enqueue(early...)
		middle := f.setAside(450)
		rest := many(150)
		f.enqueue(rest...)
		f.Advance(time.Hour)
		noon := f.now()
		f.Advance(time.Hour)
		late := slices.Concat(f.makeLate(then), f.makeLate(middle))
		f.wantCreated(noon, slices.Concat(early, rest), late)
	})
	c.test("tasks are found by when they were created, also after their batch was deleted", func(f *fixture) {
		b, chunk := f.opened(30)
		early := many(800)
		f.enqueue(early...)
		f.Advance(time.Hour)
		noon := f.now()
		tasks := f.letOut(b, chunk)
		f.change(b.ID, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{Success: 30}, f.now() })
		f.ok(f.store.DeleteBatch(f.ctx(), b.ID))
		f.wantCreated(noon, early, tasks)
	})
	c.test("jobs are found by when they were created, also after the clock was set back", func(f *fixture) {
		late, early := many(600), many(600)
		f.enqueue(late...)
		f.Advance(-time.Hour)
		f.enqueue(early...)
		f.wantCreated(f.now().Add(30*time.Minute), early, late)
		f.Advance(time.Hour)
	})
}

// aside is a batch and a chunk of ids for jobs that are made when the batch completes.
type aside struct {
	batch batch.Batch
	chunk batch.Chunk
}

// setAside reserves ids for jobs that are made later.
func (f *fixture) setAside(size int) (set aside) {
	f.Helper()
	set.batch, _ = f.opened(1)
	set.chunk = f.addChunks(set.batch, chunkOf(2, batch.PassThen, 11, size))[0]
	return set
}

// makeLate makes the jobs that were set aside.
func (f *fixture) makeLate(set aside) []*fairlead.Job {
	f.Helper()
	jobs := taskJobs(set.batch, set.chunk)
	for _, job := range jobs {
		job.Batch = 0
	}
	f.conduct(set.batch.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error { return tx.Enqueue(ctx, jobs) })
	return jobs
}

// wantCreated demands that lists and counts by time have all jobs that were created before an
// instant, or from then on.
func (f *fixture) wantCreated(noon time.Time, early, late []*fairlead.Job) {
	f.Helper()
	for what, example := range map[string]struct {
		filter fairlead.Filter
		want   []*fairlead.Job
	}{
		"to":          {fairlead.Filter{To: noon}, early},
		"from":        {fairlead.Filter{From: noon}, late},
		"from and to": {fairlead.Filter{From: noon.Add(-2 * time.Hour), To: noon}, early},
		"from a time": {fairlead.Filter{From: noon, To: noon.Add(3 * time.Hour)}, late},
	} {
		want := ids(example.want)
		slices.Sort(want)
		slices.Reverse(want)
		if got := f.follow(example.filter); !slices.Equal(got, want) {
			f.Errorf("%s: the pages have %d jobs, not %d", what, len(got), len(want))
		}
		if got := f.tally(example.filter)[fairlead.Ready]; got != int64(len(want)) {
			f.Errorf("%s: the tally is %d, not %d", what, got, len(want))
		}
		count, err := f.store.TallyUpTo(f.ctx(), example.filter, 100_000)
		f.ok(err)
		if count.Total() != int64(len(want)) || count.More {
			f.Errorf("%s: counted are %d, more: %v, not %d", what, count.Total(), count.More, len(want))
		}
	}
}
