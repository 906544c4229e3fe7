package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// serving is the scope of nodes that serve one queue.
func serving(queue string) *driver.Scope {
	return &driver.Scope{Queues: []string{queue}, Kinds: []string{kind}}
}

// move moves a job to a queue, and checks that nothing else about the job changes.
func (f *fixture) move(job *fairlead.Job, queue string) {
	f.Helper()
	want := f.get(job)
	f.ok(operations(f.store).SetQueue(f.ctx(), job.ID, queue))
	want.Queue = queue
	f.equal("the job", f.get(job), want)
}

func testSetQueue(c *chapter) {
	c.test("nodes that serve the queue claim a job that was ready, others do not", func(f *fixture) {
		job := f.enqueue(with(inQueue("old"), priority(3)))
		f.move(job, "new")
		f.wantClaim(f.join(), serving("old"))
		f.wantClaim(f.join(), serving("new"), job)
	})
	c.test("it keeps its order", func(f *fixture) {
		last, first, moved := with(inQueue("new"), priority(1)), with(inQueue("new"), priority(3)), with(inQueue("old"), priority(2))
		f.enqueue(last, first, moved)
		f.move(moved, "new")
		f.wantClaim(f.join(), serving("new"), first, moved, last)
	})
	c.test("a scheduled job is due when it was", func(f *fixture) {
		job := f.enqueue(with(inQueue("old"), notBefore(f.now().Add(time.Minute))))
		f.move(job, "new")
		f.promote()
		f.wantState(job, fairlead.Scheduled)
		f.Advance(time.Minute)
		f.promote()
		f.wantClaim(f.join(), serving("new"), job)
	})
	c.test("a job that backs off has its next attempt when it would have had it, with what is known of it", func(f *fixture) {
		job := f.running(inQueue("old"))
		f.settle(again(job, time.Minute))
		f.move(job, "new")
		f.Advance(time.Minute)
		f.promote()
		f.equal("Attempt", f.wantClaim(f.join(), serving("new"), job)[0].Attempt, 2)
	})
	c.test("a parked job is admitted in its turn, and its place is that of its gate", func(f *fixture) {
		jobs := f.queueUp(3, inQueue("old"))
		f.move(jobs[1], "new")
		f.wantState(jobs[1], fairlead.Parked)
		f.settle(to(fairlead.Succeed, f.claimThe(jobs[0], f.join())))
		f.wantNext(jobs)
		f.wantClaim(f.join(), serving("new"), jobs[1])
	})
	c.test("a ready job keeps its place at its gate", func(f *fixture) {
		jobs := f.queueUp(2, inQueue("old"))
		f.move(jobs[0], "new")
		f.wantState(jobs[0], fairlead.Ready)
		f.wantState(jobs[1], fairlead.Parked)
		f.settle(to(fairlead.Succeed, f.wantClaim(f.join(), serving("new"), jobs[0])[0]))
		f.wantState(jobs[1], fairlead.Ready)
	})
	c.test("it keeps its key", func(f *fixture) {
		job := f.enqueue(with(inQueue("old"), keyed("k")))
		f.move(job, "new")
		f.wantErr(f.tryEnqueue(with(keyed("k"))), fairlead.ErrConflict)
		f.ok(operations(f.store).Delete(f.ctx(), job.ID))
		f.enqueue(with(keyed("k")))
	})
	c.test("a queue is left in all lists and counts, and entered", func(f *fixture) {
		job := f.enqueue(with(inQueue("old")))
		f.move(job, "new")
		f.equal("the old queue", f.tally(fairlead.Filter{Queues: []string{"old"}}), map[fairlead.State]int64{})
		f.equal("the new queue", f.tally(fairlead.Filter{Queues: []string{"new"}}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("a job that is in the queue stays as it is", func(f *fixture) {
		job := f.enqueue(with(inQueue("old")))
		f.move(job, "old")
		f.wantClaim(f.join(), serving("old"), job)
	})
	c.test("it can be moved back and forth", func(f *fixture) {
		job := f.enqueue(with(inQueue("old")))
		for i := range 5 {
			f.move(job, fmt.Sprint("new", i))
		}
		f.move(job, "old")
		f.wantClaim(f.join(), serving("old"), job)
	})
	c.test("other states conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).SetQueue(f.ctx(), id, "new") }, except(fairlead.Scheduled, fairlead.Ready, fairlead.Parked)...)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(operations(f.store).SetQueue(f.ctx(), unknown, "new"), fairlead.ErrNotFound)
	})
}
