package storetest

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// manyCallers is more than the number of connections of a store.
const manyCallers = 24

// testWaits covers callers that wait for rows locked by another caller's transaction.
func testWaits(c *chapter) {
	c.test("trap 39: however many callers wait for a key of an open transaction, jobs are claimed and settled", func(f *fixture) {
		tx := f.beginWriting()
		held := f.enqueueIn(tx, with(keyed("k"), inQueue("held")))
		f.whileWaiting(tx, func() error {
			job := with(keyed("k"), func(j *fairlead.Job) { j.OnDuplicate = fairlead.KeepDuplicate })
			if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
				return err
			}
			err := f.store.Enqueue(f.ctx(), []*fairlead.Job{job})
			if err == nil && job.ID != held.ID {
				err = fmt.Errorf("got job %d, want %d", job.ID, held.ID)
			}
			return err
		})
	})
	c.test("trap 39: however many callers wait for a job of an open transaction, jobs are claimed and settled", func(f *fixture) {
		job := f.running()
		tx := f.beginWriting()
		f.settleIn(tx, []fairlead.Settled{fairlead.SettledAsAsked}, to(fairlead.Snooze, job))
		f.whileWaiting(tx, func() error { return operations(f.store).SetPriority(f.ctx(), job.ID, 7) })
	})
}

// beginWriting begins a caller's transaction next to which others write.
func (f *fixture) beginWriting() Transaction {
	f.Helper()
	f.needs(OtherWriters)
	return f.begin()
}

// whileWaiting takes jobs through their lives while many callers wait for the transaction,
// and then ends it.
func (f *fixture) whileWaiting(tx Transaction, wait func() error) {
	f.Helper()
	node := f.join()
	waited := make(chan error, manyCallers)
	for range manyCallers {
		go func() { waited <- wait() }()
	}
	for range 2 * manyCallers {
		job := f.enqueue(plain())
		f.settle(to(fairlead.Succeed, f.claimThe(job, node)))
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
		f.ok(err)
	}
	select {
	case err := <-waited:
		f.Fatalf("a caller did not wait for the transaction: %v", err)
	default:
	}
	f.ok(tx.Commit())
	for range manyCallers {
		f.ok(<-waited)
	}
}
