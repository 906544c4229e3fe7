package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// startBulkOnce stores a bulk with the key of a request.
func (f *fixture) startBulkOnce(key string, request byte, b bulk.Bulk) (bulk.Bulk, error) {
	return bulk.NewClient(f.store).StartOnce(f.ctx(), fairlead.Once{Caller: "ann", Key: key, Request: [32]byte{request}}, b)
}

// bulkJobs returns the number of jobs that carry out bulks.
func (f *fixture) bulkJobs() int { return len(f.find(fairlead.Filter{Kinds: []string{bulk.Kind}})) }

func testBulkOnce(c *chapter) {
	c.test("a bulk whose request is repeated is stored once, and the answer is as it is by then", func(f *fixture) {
		first, err := f.startBulkOnce("k", 1, cancelAll())
		f.ok(err)
		f.ok(f.store.StopBulk(f.ctx(), first.ID))
		again, err := f.startBulkOnce("k", 1, cancelAll())
		f.ok(err)
		f.equal("the answer", again, f.theBulk(first.ID))
		f.equal("jobs of bulks", f.bulkJobs(), 1)
		other, err := f.startBulkOnce("other", 1, cancelAll())
		f.ok(err)
		f.wantBulks(bulk.Filter{}, []int64{other.ID, first.ID}, 0)
	})
	c.test("a key that was used for another request conflicts, and nothing is stored", func(f *fixture) {
		first, err := f.startBulkOnce("k", 1, cancelAll())
		f.ok(err)
		_, err = f.startBulkOnce("k", 2, cancelAll())
		f.wantErr(err, fairlead.ErrConflict)
		job := with()
		f.ok(fairlead.NormalizeJobs([]*fairlead.Job{job}))
		_, err = f.store.EnqueueOnce(f.ctx(), fairlead.Once{Caller: "ann", Key: "k", Request: [32]byte{3}}, []*fairlead.Job{job})
		f.wantErr(err, fairlead.ErrConflict)
		f.wantBulks(bulk.Filter{}, []int64{first.ID}, 0)
		f.equal("jobs of bulks", f.bulkJobs(), 1)
	})
	c.test("a request that is repeated after its bulk is gone gets ErrNotFound, after a day a new bulk", func(f *fixture) {
		first, err := f.startBulkOnce("k", 1, cancelAll())
		f.ok(err)
		f.ok(operations(f.store).Cancel(f.ctx(), first.ID, ""))
		f.ok(f.store.DeleteBulk(f.ctx(), first.ID))
		_, err = f.startBulkOnce("k", 1, cancelAll())
		f.wantErr(err, fairlead.ErrNotFound)
		f.Advance(fairlead.OnceWindow + time.Second)
		again, err := f.startBulkOnce("k", 1, cancelAll())
		f.ok(err)
		f.wantBulks(bulk.Filter{}, []int64{again.ID}, 0)
	})
	c.test("of the same requests at the same instant one stores a bulk, and all get it", func(f *fixture) {
		processes, errs, made := f.processes(2), make([]error, 6), make([]bulk.Bulk, 6)
		rivals := make([]func(), len(errs))
		for i := range rivals {
			rivals[i] = func() { made[i], errs[i] = processes[i%len(processes)].startBulkOnce("k", 1, cancelAll()) }
		}
		together(rivals...)
		f.ok(first(errs))
		for _, b := range made {
			f.equal("the bulk", b.ID, made[0].ID)
		}
		f.wantBulks(bulk.Filter{}, []int64{made[0].ID}, 0)
		f.equal("jobs of bulks", f.bulkJobs(), 1)
	})
}
