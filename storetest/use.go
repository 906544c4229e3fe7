package storetest

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// another returns a second process that can be closed without closing the first.
func (f *fixture) another() *fixture {
	f.Helper()
	f.needs(OtherProcesses)
	return f.elsewhere()
}

func testUse(c *chapter) {
	c.test("closing a store leaves other processes alone", func(f *fixture) {
		job, g := f.enqueue(plain()), f.another()
		g.get(job)
		f.ok(g.store.Close())
		f.claimThe(job, f.join())
	})
	c.test("closing twice is fine", func(f *fixture) {
		g := f.another()
		f.ok(g.store.Close())
		f.ok(g.store.Close())
	})
	c.test("a closed store answers with an error", func(f *fixture) {
		g := f.another()
		f.ok(g.store.Close())
		if err := g.tryEnqueue(plain()); err == nil {
			f.Fatal("a closed store enqueued a job")
		}
		if _, err := g.store.Tally(f.ctx(), fairlead.Filter{}); err == nil {
			f.Fatal("a closed store counted jobs")
		}
	})
	c.test("a call whose context has ended answers with an error", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx())
		cancel()
		job := f.enqueue(plain())
		if _, err := f.store.Get(ctx, job.ID); err == nil {
			f.Fatal("Get succeeded")
		}
		if err := operations(f.store).Cancel(ctx, job.ID, ""); err == nil {
			f.Fatal("Cancel succeeded")
		}
		f.claimThe(job, f.join()) // the store still works
	})
	c.test("what is enqueued survives the process that did it", func(f *fixture) {
		g := f.another()
		job := g.enqueue(plain())
		f.ok(g.store.Close())
		f.claimThe(job, f.elsewhere().join())
	})
}
