package batch

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

const (
	outlookChunks = 2 * outAtOnce / ChunkSize // that are made ready at once
	outlookBytes  = 2 * outBytes              // of args
)

// Outlook holds the jobs for tasks that a batch will soon release. A task's args never
// change, so its job can be prepared before taking the batch's lock, which blocks all other
// processes. An Outlook is not safe for concurrent use.
type Outlook struct {
	jobs  map[int][]*fairlead.Job // number of a chunk → those of all its tasks
	bytes int                     // of their args
	last  int                     // number of the last chunk that was made ready
}

// ready is the jobs of a chunk; nil: they were not made.
func (o *Outlook) ready(number int) []*fairlead.Job {
	if o == nil {
		return nil
	}
	return o.jobs[number]
}

// pass forgets chunks of which nothing is held any more.
func (o *Outlook) pass(chunks map[int]*Chunk) {
	for number, p := range chunks {
		if p.Held == 0 {
			o.forget(number)
		}
	}
}

// forget drops the jobs of a chunk.
func (o *Outlook) forget(number int) {
	for _, job := range o.jobs[number] {
		o.bytes -= len(job.Args)
	}
	delete(o.jobs, number)
}

// passBelow forgets chunks before a number: another process has released them.
func (o *Outlook) passBelow(number int) {
	for ready := range o.jobs {
		if ready < number {
			o.forget(ready)
		}
	}
}

// extend makes the jobs of further chunks, if half of those that were ready are gone.
func (o *Outlook) extend(ctx context.Context, store Store, batch *Record) error {
	if len(o.jobs) > outlookChunks/2 || o.bytes > outlookBytes/2 {
		return nil
	}
	if o.jobs == nil {
		o.jobs = map[int][]*fairlead.Job{}
	}
	filter := ChunkFilter{Held: true, Tasks: true, Kind: PassForward, After: o.last, Limit: outlookChunks - len(o.jobs)}
	chunks, err := store.Chunks(ctx, batch.ID, filter)
	if err != nil {
		return err
	}
	for i := range chunks {
		p := &chunks[i]
		if o.last = p.Number; o.bytes > outlookBytes || !batch.began(p.Pass) {
			continue
		}
		jobs := make([]*fairlead.Job, p.Size)
		for i := range jobs {
			jobs[i] = batch.job(p, i)
			o.bytes += len(jobs[i].Args)
		}
		o.jobs[p.Number] = jobs
	}
	return nil
}
