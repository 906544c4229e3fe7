package storetest

import (
	"errors"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
)

// through performs all steps of a bulk over some jobs, a few jobs at a time.
func (c *carry) through(store Store, jobs []*fairlead.Job) error {
	const few = 10
	newest := slices.Clone(jobs)
	slices.Reverse(newest)
	for part := range slices.Chunk(newest, few) {
		next := part[len(part)-1].ID
		if next == jobs[0].ID {
			next = 0
		}
		b, err := store.StepBulk(c.ctx(), c.stepOf(next, part...))
		if err != nil {
			return err
		}
		c.bulk = b
	}
	return nil
}

func testBulkRaces(c *chapter) {
	c.test("of steps that begin where another does at the same instant one counts", func(f *fixture) {
		jobs := many(20)
		f.enqueue(jobs...)
		run := f.begun(cancelAll())
		step := run.stepOf(0, jobs...)
		processes, errs := f.processes(2), make([]error, 6)
		rivals := make([]func(), len(errs))
		for i := range rivals {
			rivals[i] = func() { _, errs[i] = processes[i%len(processes)].store.StepBulk(f.ctx(), step) }
		}
		together(rivals...)
		f.ok(first(errs))
		run.wantCounts(20, 0)
		f.equal("entries", len(f.auditLog(access.Filter{Action: "CancelJob"})), 20)
	})
	c.test("two bulks act upon the same jobs at the same instant, each upon all of them", func(f *fixture) {
		jobs := many(60)
		f.enqueue(jobs...)
		move, raise := f.begun(bulk.Bulk{Action: bulk.Move, Queue: "moved"}), f.begun(bulk.Bulk{Action: bulk.Prioritize, Priority: 7})
		processes, errs := f.processes(2), make([]error, 2)
		together(
			func() { errs[0] = move.through(processes[0].store, jobs) },
			func() { errs[1] = raise.through(processes[1].store, jobs) },
		)
		f.ok(first(errs))
		move.wantCounts(60, 0)
		raise.wantCounts(60, 0)
		for _, job := range f.find(fairlead.Filter{Kinds: []string{kind}}) {
			f.equal("queue and priority", []any{job.Queue, job.Priority}, []any{"moved", 7})
		}
	})
	c.test("while nodes claim and settle the same jobs, each job ends once and is acted upon at most once", func(f *fixture) {
		jobs := many(100)
		f.enqueue(jobs...)
		run := f.begun(cancelAll())
		node, processes, errs := f.join(), f.processes(2), make([]error, 2)
		together(
			func() { errs[0] = run.through(processes[0].store, jobs) },
			func() { errs[1] = workThrough(f, processes[1].store, node) },
		)
		f.ok(first(errs))
		f.ok(workThrough(f, f.store, node))
		tally := f.tally(fairlead.Filter{Kinds: []string{kind}})
		f.equal("jobs that ended", tally[fairlead.Succeeded]+tally[fairlead.Cancelled], int64(len(jobs)))
		b := f.theBulk(run.bulk.ID)
		run.wantCounts(b.Done, int64(len(jobs))-b.Done)
		f.equal("entries", int64(len(f.auditLog(access.Filter{Action: "CancelJob"}))), b.Done)
	})
}

// workThrough claims and completes jobs until none are left.
func workThrough(f *fixture, store Store, node fairlead.NodeID) error {
	for {
		claimed, err := store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 3})
		if err != nil || len(claimed) == 0 {
			return err
		}
		ends := make([]fairlead.Settlement, len(claimed))
		for i, job := range claimed {
			ends[i] = to(fairlead.Succeed, job)
		}
		settled, err := SettleAll(f.ctx(), store, ends)
		if err == nil && slices.Contains(settled, fairlead.SettledLost) {
			err = errors.New("a lease was lost")
		}
		if err != nil {
			return err
		}
	}
}
