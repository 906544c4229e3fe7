package engine

import (
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
)

// documents bounds the memory of the args, memos and progress of the jobs that a group
// holds. A claim cannot know how large its jobs will be: those whose documents do not fit
// come without them and are given back, and the next claims ask for fewer jobs.
type documents struct {
	most int64 // bytes
	held atomic.Int64
	jobs atomic.Int64 // to ask for at once, at most; 0: as many as there is room for
}

// jobDocuments is how many bytes each slot is allowed, as much as the largest args have, and
// queuedDocuments those that wait for a slot together.
const (
	jobDocuments    = fairlead.MaxArgs
	queuedDocuments = 32 << 20
)

func newDocuments(slots int) *documents {
	return &documents{most: int64(slots)*jobDocuments + queuedDocuments}
}

// room is how many jobs may be claimed, and with how many bytes of documents, if there is
// room for so many jobs otherwise.
func (d *documents) room(jobs int) (int, int) {
	left := d.most - d.held.Load()
	if left <= 0 {
		return 0, 0
	}
	if few := d.jobs.Load(); few > 0 {
		jobs = min(jobs, int(few))
	}
	return jobs, int(left)
}

// claimed learns from what a claim brought.
func (d *documents) claimed(jobs []*fairlead.Job) {
	whole := int64(0)
	for _, job := range jobs {
		if !job.Bare {
			whole++
		}
	}
	switch few := d.jobs.Load(); {
	case int(whole) < len(jobs):
		d.jobs.Store(max(1, whole))
	case few > 0 && int(few) <= len(jobs): // all that were asked for had room
		d.jobs.Store(2 * few)
	}
}

// sizeOf is how many bytes the documents of a job have.
func sizeOf(job *fairlead.Job) int64 { return int64(len(job.Args) + len(job.Memo) + len(job.Progress)) }

func (d *documents) add(r *run) {
	r.documents = sizeOf(r.job)
	d.held.Add(r.documents)
}

func (d *documents) drop(r *run) { d.held.Add(-r.documents) }
