package storetest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// request returns a request that takes effect once. content stands for its content.
func request(caller, key, content string) fairlead.Once {
	return fairlead.Once{Caller: caller, Key: key, Request: sha256.Sum256([]byte(content))}
}

// tryOnce calls Store.EnqueueOnce with the defaults filled in, like the client.
func (f *fixture) tryOnce(once fairlead.Once, jobs ...*fairlead.Job) (bool, error) {
	f.Helper()
	f.ok(fairlead.NormalizeOnce(once))
	f.ok(fairlead.NormalizeJobs(jobs))
	return f.store.EnqueueOnce(f.ctx(), once, jobs)
}

// once enqueues, and checks whether the request took effect now or before.
func (f *fixture) once(want bool, once fairlead.Once, jobs ...*fairlead.Job) []int64 {
	f.Helper()
	repeated, err := f.tryOnce(once, jobs...)
	f.ok(err)
	f.equal("whether it is repeated", repeated, want)
	return ids(jobs)
}

func testOnce(c *chapter) {
	c.test("the first time it is Enqueue", func(f *fixture) {
		jobs := []*fairlead.Job{plain(), with(notBefore(f.now().Add(time.Hour))), with(keyed("k")), with(behind("g")), with(behind("g"))}
		f.once(false, request("ann", "1", "x"), jobs...)
		for i, state := range []fairlead.State{fairlead.Ready, fairlead.Scheduled, fairlead.Ready, fairlead.Ready, fairlead.Parked} {
			f.wantState(jobs[i], state)
		}
		f.equal("their order", slices.IsSorted(ids(jobs)), true)
	})
	c.test("the second time it stores nothing and gives the same IDs", func(f *fixture) {
		first := f.once(false, request("ann", "1", "x"), many(3)...)
		f.equal("the IDs", f.elsewhere().once(true, request("ann", "1", "x"), many(3)...), first)
		f.equal("the IDs a third time", f.once(true, request("ann", "1", "x"), many(3)...), first)
		f.equal("how many jobs there are", len(f.find(fairlead.Filter{})), 3)
	})
	c.test("it is repeated whatever became of the jobs", func(f *fixture) {
		first := f.once(false, request("ann", "1", "x"), with(keyed("k")))
		f.ok(operations(f.store).Cancel(f.ctx(), first[0], ""))
		f.equal("the ID", f.once(true, request("ann", "1", "x"), with(keyed("k"))), first)
		f.ok(operations(f.store).Delete(f.ctx(), first[0]))
		f.equal("the ID of what is gone", f.once(true, request("ann", "1", "x"), with(keyed("k"))), first)
	})
	c.test("another request with the same key conflicts and stores nothing", func(f *fixture) {
		f.once(false, request("ann", "1", "x"), plain())
		_, err := f.tryOnce(request("ann", "1", "y"), plain())
		f.wantErr(err, fairlead.ErrConflict)
		_, err = f.tryOnce(request("ann", "1", "x"), many(2)...)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("how many jobs there are", len(f.find(fairlead.Filter{})), 1)
	})
	c.test("callers do not see each other's keys, nor do keys that look alike", func(f *fixture) {
		for _, name := range alike() {
			f.once(false, request(name, "1", "x"), plain())
			f.once(false, request("ann", name, "x"), plain())
		}
		f.once(false, request("", "1", "x"), plain())
		for _, name := range alike() {
			f.once(true, request(name, "1", "x"), plain())
		}
	})
	c.test("without jobs nothing is remembered", func(f *fixture) {
		f.once(false, request("ann", "1", "x"))
		f.once(false, request("ann", "1", "y"), plain())
	})
	c.test("keys are forgotten after OnceWindow, pruned or not", func(f *fixture) {
		first := f.once(false, request("ann", "1", "x"), plain())
		f.once(false, request("ann", "2", "x"), plain())
		f.Advance(fairlead.OnceWindow - time.Microsecond)
		f.equal("how many are pruned before", f.prune(10), 0)
		f.once(true, request("ann", "1", "x"), plain())
		f.Advance(time.Microsecond)
		second := f.once(false, request("ann", "1", "y"), plain())
		if second[0] == first[0] {
			f.Fatal("the second request got the job of the first")
		}
		f.equal("how many are pruned", []int{f.prune(10), f.prune(10)}, []int{1, 0})
		f.equal("the ID of the new one", f.once(true, request("ann", "1", "y"), plain()), second)
		f.once(false, request("ann", "2", "x"), plain())
	})
	c.test("a key that is used again after OnceWindow is its caller's own, and one of several", func(f *fixture) {
		same := []fairlead.Once{request("ann", "1", "x"), request("bob", "1", "x"), request("ann", "2", "x")}
		for _, once := range same {
			f.once(false, once, plain())
		}
		f.Advance(fairlead.OnceWindow)
		given := map[int64]bool{}
		for _, once := range same {
			given[f.once(false, once, plain())[0]] = true
		}
		f.equal("how many jobs they have got", len(given), len(same))
	})
	c.test("Prune removes at most limit of them", func(f *fixture) {
		for i := range 5 {
			f.once(false, request("ann", fmt.Sprint(i), "x"), plain())
		}
		f.Advance(fairlead.OnceWindow)
		f.equal("how many are removed", []int{f.prune(2), f.prune(2), f.prune(2), f.prune(2)}, []int{2, 2, 1, 0})
	})
	testOnceRefused(c)
	testOnceAtOnce(c)
}

// testOnceRefused covers requests that cannot be carried out, or whose jobs exist.
func testOnceRefused(c *chapter) {
	c.test("if a key of a job is taken, the request's key is as free as before", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		_, err := f.tryOnce(request("ann", "1", "x"), plain(), with(keyed("k")))
		f.wantTaken(err, holder)
		f.equal("how many jobs there are", len(f.find(fairlead.Filter{})), 1)
		f.once(false, request("ann", "1", "y"), plain())
	})
	c.test("if a tenant has as many jobs as it may, the request's key is as free as before", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		blocking := f.enqueue(with(forTenant("acme")))
		_, err := f.tryOnce(request("ann", "1", "x"), with(forTenant("acme")))
		f.wantErr(err, fairlead.ErrLimit)
		f.ok(operations(f.store).Cancel(f.ctx(), blocking.ID, ""))
		first := f.once(false, request("ann", "1", "x"), with(forTenant("acme")))
		f.equal("the ID again, though there is no room", f.once(true, request("ann", "1", "x"), with(forTenant("acme"))), first)
	})
	c.test("under KeepDuplicate the holder's ID is what is remembered", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		keep := func() []*fairlead.Job {
			return []*fairlead.Job{plain(), with(keyed("k"), onDuplicate(fairlead.KeepDuplicate))}
		}
		first := f.once(false, request("ann", "1", "x"), keep()...)
		f.equal("the holder", first[1], holder.ID)
		f.ok(operations(f.store).Cancel(f.ctx(), holder.ID, ""))
		f.equal("the IDs again", f.once(true, request("ann", "1", "x"), keep()...), first)
	})
	c.test("a request after OnceWindow is remembered even if it gets the IDs it got before", func(f *fixture) {
		keep := func() *fairlead.Job { return with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)) }
		first := f.once(false, request("ann", "1", "x"), keep())
		f.Advance(fairlead.OnceWindow)
		f.equal("the ID after the window", f.once(false, request("ann", "1", "y"), keep()), first)
		f.ok(operations(f.store).Cancel(f.ctx(), first[0], ""))
		f.Advance(fairlead.OnceWindow - time.Microsecond)
		f.equal("the ID again", f.once(true, request("ann", "1", "y"), keep()), first)
		f.equal("how many jobs there are", len(f.find(fairlead.Filter{})), 1)
	})
	c.test("under ReplaceDuplicate nothing is replaced again", func(f *fixture) {
		replace := func() *fairlead.Job { return with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)) }
		f.enqueue(with(keyed("k")))
		first := f.once(false, request("ann", "1", "x"), replace())
		f.equal("the ID again", f.once(true, request("ann", "1", "x"), replace()), first)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1, fairlead.Cancelled: 1})
	})
}

// testOnceAtOnce covers many concurrent senders of the same request.
func testOnceAtOnce(c *chapter) {
	const callers = 16
	c.test("of callers at the same instant one enqueues, and all get its IDs", func(f *fixture) {
		rounds := f.size(2, 5, "tries more often")
		for round := range rounds {
			once := request("ann", fmt.Sprint("round ", round), "x")
			got, fresh := make([][]int64, callers), make([]bool, callers)
			f.ok(first(f.rivals(callers, func(i int, store Store) error {
				jobs := many(3)
				if err := fairlead.NormalizeJobs(jobs); err != nil {
					return err
				}
				repeated, err := store.EnqueueOnce(f.ctx(), once, jobs)
				got[i], fresh[i] = ids(jobs), !repeated
				return err
			})))
			for i := range got {
				f.equal("the IDs", got[i], got[0])
			}
			fresh = slices.DeleteFunc(fresh, func(is bool) bool { return !is })
			f.equal("how many enqueued", len(fresh), 1)
		}
		f.equal("how many jobs there are", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: int64(3 * rounds)})
	})
	c.test("callers with a key of a job get the same, too", func(f *fixture) {
		got := make([]int64, callers)
		f.ok(first(f.rivals(callers, func(i int, store Store) error {
			job := with(keyed("k"))
			if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
				return err
			}
			_, err := store.EnqueueOnce(f.ctx(), request("ann", "1", "x"), []*fairlead.Job{job})
			got[i] = job.ID
			return err
		})))
		f.equal("how many different jobs they got", len(slices.Compact(sorted(got))), 1)
		f.equal("how many jobs there are", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("of different requests at the same instant one enqueues, and the others conflict", func(f *fixture) {
		f.wantOneWinner(f.rivals(callers, func(i int, store Store) error {
			job := plain()
			if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
				return err
			}
			_, err := store.EnqueueOnce(f.ctx(), request("ann", "1", fmt.Sprint(i)), []*fairlead.Job{job})
			return err
		}))
		f.equal("how many jobs there are", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("a key that was forgotten is taken by one of many", func(f *fixture) {
		f.once(false, request("ann", "1", "old"), plain())
		f.Advance(fairlead.OnceWindow)
		got := make([]int64, callers)
		f.ok(first(f.rivals(callers, func(i int, store Store) error {
			job := plain()
			if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
				return err
			}
			_, err := store.EnqueueOnce(f.ctx(), request("ann", "1", "new"), []*fairlead.Job{job})
			got[i] = job.ID
			return err
		})))
		f.equal("how many different jobs they got", len(slices.Compact(sorted(got))), 1)
		f.equal("how many jobs there are", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 2})
	})
}
