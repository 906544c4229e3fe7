package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// testOutOfOrder covers jobs with IDs that are not in the order of creation.
func testOutOfOrder(c *chapter) {
	c.test("jobs are found by when they were created though a batch that completes makes jobs with smaller ids later", func(f *fixture) {
		then := f.setAside(450)
		early := slices.Concat(many(20), many(150))
		f.markIDs()
		f.enqueue(early...)
		f.markIDs()
		middle := f.setAside(450)
		rest := many(150)
		f.enqueue(rest...)
		noon := f.markHour()
		late := slices.Concat(f.makeLate(then), f.makeLate(middle))
		f.markHour()
		f.wantCreated(noon, slices.Concat(early, rest), late)
	})
	for _, removal := range []struct {
		name string
		do   func(f *fixture, batch int64)
	}{
		{"deleted", func(f *fixture, batch int64) { f.ok(f.store.DeleteBatch(f.ctx(), batch)) }},
		{"pruned", func(f *fixture, _ int64) {
			f.Advance(time.Hour)
			f.equal("removed rows", f.pruneSoon(10), 1)
		}},
	} {
		c.test("tasks are found by when they were created, also after their batch was "+removal.name, func(f *fixture) {
			b, chunk := f.opened(30)
			early := many(800)
			f.enqueue(early...)
			f.markIDs()
			noon := f.markHour()
			tasks := f.letOut(b, chunk)
			f.change(b.ID, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{Success: 30}, f.now() })
			f.markHour()
			removal.do(f, b.ID)
			f.wantCreated(noon, early, tasks)
		})
	}
	c.test("jobs are found by when they were created, also after the clock was set back", func(f *fixture) {
		late, early := many(600), many(600)
		start := f.now()
		f.markHour()
		f.enqueue(late...)
		f.markIDs()
		f.Advance(start.Sub(f.now()))
		f.enqueue(early...)
		noon := f.markHour()
		f.wantCreated(noon, early, late)
		f.markHour()
		f.wantCreated(noon, early, late)
	})
	c.test("jobs are found by when they were created, also if ids were not marked just before the clock was set back", func(f *fixture) {
		late, early := many(1), many(30)
		f.markIDs()
		f.Advance(5*time.Minute + 30*time.Second)
		noon := f.now()
		f.Advance(20 * time.Second)
		f.enqueue(late...)
		f.Advance(-time.Hour)
		f.enqueue(early...)
		for range 7 {
			f.markIDs()
		}
		f.wantCreated(noon, early, late)
	})
	c.test("jobs are found by when they were created, though their transaction was open when ids were marked", func(f *fixture) {
		jobs, tx := many(5), f.begin()
		f.enqueueIn(tx, jobs...)
		f.Advance(time.Minute)
		noon := f.now()
		f.Advance(10 * time.Minute)
		together(
			func() {
				_, err := f.store.Prune(f.ctx(), driver.Retention{}, 1)
				f.ok(err)
			},
			func() { f.ok(tx.Commit()) })
		f.markIDs()
		f.wantCreated(noon, jobs, nil)
	})
	c.test("jobs are found by when they were created, also after the clock was set forward", func(f *fixture) {
		late, early := many(10), many(10)
		f.markHour()
		f.enqueue(early...)
		f.Advance(time.Hour)
		noon := f.now()
		f.enqueue(late...)
		f.wantCreated(noon, early, late)
		f.markHour()
		f.wantCreated(noon, early, late)
	})
}

// markIDs advances the clock and does the housekeeping that records which IDs are in use.
func (f *fixture) markIDs() {
	f.Helper()
	f.Advance(6 * time.Minute)
	_, err := f.store.Prune(f.ctx(), driver.Retention{}, 1)
	f.ok(err)
}

// markHour does the same as markIDs for an hour, and returns the middle of the hour.
func (f *fixture) markHour() (middle time.Time) {
	f.Helper()
	for range 5 {
		f.markIDs()
	}
	middle = f.now()
	for range 5 {
		f.markIDs()
	}
	return middle
}

// aside is a batch and a chunk of IDs for jobs that are created when the batch completes.
type aside struct {
	batch batch.Batch
	chunk batch.Chunk
}

// setAside reserves IDs for jobs that are created later.
func (f *fixture) setAside(size int) (set aside) {
	f.Helper()
	set.batch, _ = f.opened(1)
	set.chunk = f.addChunks(set.batch, chunkOf(2, batch.PassThen, 11, size))[0]
	return set
}

// makeLate creates the jobs for the reserved IDs.
func (f *fixture) makeLate(set aside) []*fairlead.Job {
	f.Helper()
	jobs := taskJobs(set.batch, set.chunk)
	for _, job := range jobs {
		job.Batch = 0
	}
	f.conduct(set.batch.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error { return tx.Enqueue(ctx, jobs) })
	return jobs
}

// wantCreated checks that lists and counts by time contain all jobs created before an
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
