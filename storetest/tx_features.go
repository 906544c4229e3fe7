package storetest

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// testTxOfFeatures covers schedules, batches and sweeps in a caller's own transaction.
func testTxOfFeatures(c *chapter) {
	testTxOfSchedules(c)
	testTxOfSweeps(c)
	testTxOfBatches(c)
}

func testTxOfSchedules(c *chapter) {
	c.test("a schedule exists when the caller commits, and not before", func(f *fixture) {
		s, tx := f.unstored("s"), f.begin()
		put, err := tx.Tx.PutSchedule(f.ctx(), s, false)
		f.ok(err)
		inside, err := tx.Tx.Schedules(f.ctx(), schedule.Filter{Names: []string{"s"}})
		f.ok(err)
		f.equal("what the transaction sees", scheduleNames(inside), []string{"s"})
		f.equal("what others see", scheduleNames(f.schedules(schedule.Filter{})), []string(nil))
		f.ok(tx.Commit())
		f.equal("what others see then", f.schedules(schedule.Filter{}), []schedule.Schedule{put})
	})
	c.test("the soonest schedules are those that the transaction sees", func(f *fixture) {
		f.plan("later", dueAt(f.now().Add(time.Hour)))
		tx := f.begin()
		_, err := tx.Tx.PutSchedule(f.ctx(), f.unstored("sooner"), false)
		f.ok(err)
		inside, err := tx.Tx.Schedules(f.ctx(), schedule.Filter{Soonest: true})
		f.ok(err)
		f.equal("what the transaction sees", scheduleNames(inside), []string{"sooner", "later"})
		f.ok(tx.Rollback())
		f.equal("what others see", f.soonest(0), []string{"later"})
	})
	c.test("a schedule never exists if the caller rolls back", func(f *fixture) {
		s, tx := f.unstored("s"), f.begin()
		_, err := tx.Tx.PutSchedule(f.ctx(), s, false)
		f.ok(err)
		f.ok(tx.Rollback())
		f.equal("what others see", scheduleNames(f.schedules(schedule.Filter{})), []string(nil))
		f.plan("s") // the name is not in use
	})
	c.test("a schedule is replaced when the caller commits", func(f *fixture) {
		s := f.plan("s")
		tx := f.begin()
		s.Description = "changed"
		_, err := tx.Tx.PutSchedule(f.ctx(), s, false)
		f.ok(err)
		f.equal("the description before", f.schedules(schedule.Filter{})[0].Description, "")
		f.ok(tx.Commit())
		f.equal("the description then", f.schedules(schedule.Filter{})[0].Description, "changed")
	})
	c.test("a schedule that conflicts leaves the transaction as it was", func(f *fixture) {
		old, tx := f.plan("taken"), f.begin()
		_, err := tx.Tx.PutSchedule(f.ctx(), f.unstored("taken"), false)
		f.wantErr(err, fairlead.ErrConflict)
		stale := old
		stale.Version++
		_, err = tx.Tx.PutSchedule(f.ctx(), stale, false)
		f.wantErr(err, fairlead.ErrConflict)
		_, err = tx.Tx.PutSchedule(f.ctx(), f.unstored("free"), false)
		f.ok(err)
		f.ok(tx.Commit())
		f.equal("the schedules", scheduleNames(f.schedules(schedule.Filter{})), []string{"free", "taken"})
	})
	c.test("the audit log has an entry when the caller commits, and not before", func(f *fixture) {
		tx := f.begin()
		log, kept := tx.Tx.(access.Auditor)
		f.equal("it has an audit log", kept, true)
		f.ok(log.Audit(f.ctx(), []access.Entry{{Actor: "me", Action: "Try", Subject: "it"}}))
		f.equal("the log before", len(f.auditLog(access.Filter{Action: "Try"})), 0)
		f.ok(tx.Commit())
		f.equal("the log then", f.auditLog(access.Filter{Action: "Try"})[0].Subject, "it")
	})
}

func testTxOfSweeps(c *chapter) {
	c.test("a sweep exists when the caller commits, and not before", func(f *fixture) {
		s, tx := f.unstoredSweep("s"), f.begin()
		put, err := tx.Tx.PutSweep(f.ctx(), s)
		f.ok(err)
		inside, err := tx.Tx.Sweeps(f.ctx(), sweep.Filter{Names: []string{"s"}})
		f.ok(err)
		f.equal("what the transaction sees", len(inside), 1)
		f.equal("what others see", len(f.sweeps(sweep.Filter{})), 0)
		f.ok(tx.Commit())
		f.equal("what others see then", f.sweeps(sweep.Filter{}), []sweep.Sweep{put})
	})
	c.test("a sweep never exists if the caller rolls back", func(f *fixture) {
		s, tx := f.unstoredSweep("s"), f.begin()
		_, err := tx.Tx.PutSweep(f.ctx(), s)
		f.ok(err)
		f.ok(tx.Rollback())
		f.equal("what others see", len(f.sweeps(sweep.Filter{})), 0)
		f.sweep("s") // the name is not in use
	})
	c.test("a sweep that conflicts leaves the transaction as it was", func(f *fixture) {
		old := f.sweep("taken")
		tx := f.begin()
		_, err := tx.Tx.PutSweep(f.ctx(), f.unstoredSweep("taken"))
		f.wantErr(err, fairlead.ErrConflict)
		old.Version++
		_, err = tx.Tx.PutSweep(f.ctx(), old)
		f.wantErr(err, fairlead.ErrConflict)
		_, err = tx.Tx.PutSweep(f.ctx(), f.unstoredSweep("free"))
		f.ok(err)
		f.ok(tx.Commit())
		f.equal("the sweeps", len(f.sweeps(sweep.Filter{})), 2)
	})
}

func testTxOfBatches(c *chapter) {
	add := func(f *fixture, tx Transaction) batch.Record {
		b := batch.Record{Batch: batch.Batch{Name: "move them", Type: "move"}}
		f.ok(batch.Normalize(&b.Batch))
		b.Opened, b.Total, b.Held, b.Tries, b.Tally = true, 3, 3, 1, batch.Tally{Pending: 3}
		b.Passes = []batch.Pass{{Number: 1, Kind: batch.PassForward, Tasks: 3}}
		stored, err := tx.Tx.AddBatch(f.ctx(), b, []batch.Chunk{chunk(1, 2), chunk(2, 1)})
		f.ok(err)
		return stored
	}
	c.test("a batch exists when the caller commits, and not before", func(f *fixture) {
		tx := f.begin()
		b := add(f, tx)
		f.equal("what others see", len(f.batches(batch.Filter{})), 0)
		f.ok(tx.Commit())
		f.equal("the open batches", f.batches(batch.Filter{Open: true}), []batch.Record{b})
		f.equal("its chunks", len(f.chunks(b.ID, batch.ChunkFilter{Held: true, Tasks: true})), 2)
	})
	c.test("a batch of a transaction begins when a node looks at it", func(f *fixture) {
		tx := f.begin()
		b := add(f, tx)
		f.ok(tx.Commit())
		_, err := batch.Conduct(f.ctx(), f.store, b.ID)
		f.ok(err)
		node := f.join()
		jobs := f.claimKind(node, batch.TaskKind("box", "move"))
		f.equal("its jobs", len(jobs), 3)
		f.equal("one of them has the ID of another job", slices.Contains(jobs, f.enqueue(plain()).ID), false)
	})
	c.test("a batch never exists if the caller rolls back", func(f *fixture) {
		tx := f.begin()
		b := add(f, tx)
		f.ok(tx.Rollback())
		f.equal("what others see", len(f.batches(batch.Filter{IDs: []int64{b.ID}})), 0)
		f.equal("its chunks", len(f.chunks(b.ID, batch.ChunkFilter{})), 0)
	})
	c.test("a transaction knows the nodes", func(f *fixture) {
		node, tx := f.join(), f.begin()
		nodes, err := tx.Tx.Nodes(f.ctx())
		f.ok(err)
		f.equal("the node", nodes[0].ID, node)
		f.ok(tx.Rollback())
	})
}

// unstored returns a schedule as the client passes it to a store.
func (f *fixture) unstored(name string) schedule.Schedule {
	s := f.hourly(name)
	f.ok(fairlead.NormalizeJobs([]*fairlead.Job{&s.Job}))
	return s
}

// unstoredSweep returns a sweep as the client passes it to a store.
func (f *fixture) unstoredSweep(name string) sweep.Sweep {
	s := newSweep(name)
	f.ok(sweep.Normalize(&s))
	return s
}
