package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testRaces covers problems of two concurrent operations. Each is tried several times, to
// hit the unlucky order of events.
func testRaces(c *chapter) {
	c.test("trap 04: of a late beat and the reaper exactly one wins", func(f *fixture) {
		g := f.elsewhere()
		for range f.rounds(15) {
			job := f.enqueue(plain())
			claimed := f.claimThe(job, f.joinFor(time.Minute))
			f.Advance(time.Minute - time.Microsecond)
			var beat, reap error
			together(
				func() { _, beat = f.store.Beat(f.ctx(), driver.Beat{Node: claimed.Node, Lease: lease}) },
				func() {
					f.Advance(2 * time.Microsecond)
					_, reap = g.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 100})
				},
			)
			f.ok(reap)
			node, _ := f.node(claimed.Node)
			if beat == nil {
				f.equal("Dead", node.Dead, false)
				f.settle(to(fairlead.Succeed, claimed))
				continue
			}
			f.wantErr(beat, fairlead.ErrLeaseLost)
			f.equal("Dead", node.Dead, true)
			f.ok(operations(f.store).Delete(f.ctx(), f.wantState(job, fairlead.Ready).ID))
		}
	})
	c.test("trap 05: a claim that races with its node's death loses no job", func(f *fixture) {
		g := f.elsewhere()
		for range f.rounds(15) {
			jobs, node := many(5), f.join()
			f.enqueue(jobs...)
			var claim, leave, reap error
			together(
				func() {
					_, claim = f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 10})
				},
				func() {
					leave = g.store.Leave(f.ctx(), node)
					_, reap = g.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 100})
				},
			)
			f.ok(leave)
			f.ok(reap)
			if claim != nil {
				f.wantErr(claim, fairlead.ErrLeaseLost)
			}
			f.reap()
			for _, job := range f.wantClaim(f.join(), everything(), jobs...) {
				f.settle(to(fairlead.Succeed, job))
			}
		}
	})
	c.test("trap 08: a job that moves about is cancelled all the same", func(f *fixture) {
		each := f.size(6, 20, "cancels more jobs")
		jobs, node := many(4*each), f.join()
		f.enqueue(jobs...)
		var cancelling sync.WaitGroup
		cancelling.Add(4)
		stop := make(chan struct{})
		go func() { cancelling.Wait(); close(stop) }()
		f.ok(first(f.rivals(8, func(i int, store Store) error {
			if i >= 4 {
				return f.keepMoving(store, node, stop)
			}
			defer cancelling.Done()
			for _, job := range jobs[i*each : (i+1)*each] {
				if err := operations(store).Cancel(f.ctx(), job.ID, "enough"); err != nil {
					return err
				}
			}
			return nil
		})))
		for _, job := range jobs {
			f.wantState(job, fairlead.Cancelled)
		}
	})
	c.test("trap 28: of Prune and Reopen exactly one wins", func(f *fixture) {
		g := f.elsewhere()
		for range f.rounds(15) {
			job := f.in(fairlead.Cancelled, keyed("k"))
			f.Advance(time.Hour)
			var prune, reopen error
			together(
				func() {
					_, prune = f.store.Prune(f.ctx(), driver.Retention{Cancelled: time.Minute}, 100)
				},
				func() { reopen = operations(g.store).Reopen(f.ctx(), job.ID) },
			)
			f.ok(prune)
			if reopen != nil {
				f.wantErr(reopen, fairlead.ErrNotFound)
				f.wantGone(job)
				continue
			}
			f.wantState(job, fairlead.Ready)
			f.settle(to(fairlead.Succeed, f.claimThe(job, f.join())))
			f.ok(operations(f.store).Delete(f.ctx(), job.ID))
		}
	})
	c.test("trap 29: of many that enqueue and finish one key no two hold it at once", func(f *fixture) {
		g, node, rounds := f.elsewhere(), f.join(), f.rounds(15)
		var problem atomic.Value
		var workers []func()
		for i := range 4 {
			store := []Store{f.store, g.store}[i%2]
			workers = append(workers, func() {
				for range rounds {
					job := normalized(with(keyed("k"), ofKind(fmt.Sprint("mine ", i))))
					err := store.Enqueue(f.ctx(), []*fairlead.Job{job})
					if errors.Is(err, fairlead.ErrConflict) {
						continue
					}
					if err == nil {
						err = finishOnly(f, store, node, job)
					}
					if err != nil {
						problem.Store(err)
						return
					}
				}
			})
		}
		together(workers...)
		if err, _ := problem.Load().(error); err != nil {
			f.Fatal(err)
		}
		f.wantFree("k")
	})
	testPauseRace(c)
}

// keepMoving does the work of nodes: it promotes, claims and settles jobs such that they
// run again, now or later.
func (f *fixture) keepMoving(store Store, node fairlead.NodeID, stop <-chan struct{}) error {
	for {
		f.Advance(time.Millisecond)
		if _, err := store.Promote(f.ctx(), 100); err != nil {
			return err
		}
		jobs, err := store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 10})
		if err != nil {
			return err
		}
		var settlements []fairlead.Settlement
		for i, job := range jobs {
			settlements = append(settlements, again(job, time.Duration(i%2)*time.Millisecond))
		}
		if _, err := SettleAll(f.ctx(), store, settlements); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// finishOnly claims the job, checks that it is the only live one with its key, and finishes
// it.
func finishOnly(f *fixture, store Store, node fairlead.NodeID, job *fairlead.Job) error {
	claimed, err := store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(job.Kind), Max: 10})
	if err != nil {
		return err
	}
	if len(claimed) != 1 || claimed[0].ID != job.ID {
		return fmt.Errorf("claimed %v, want the one job %d", ids(claimed), job.ID)
	}
	live, err := store.Tally(f.ctx(), fairlead.Filter{Key: job.Key, States: []fairlead.State{fairlead.Ready, fairlead.Running}})
	if err != nil {
		return err
	}
	if n := live[fairlead.Ready] + live[fairlead.Running]; n != 1 {
		return fmt.Errorf("%d jobs hold the key at once", n)
	}
	settled, err := SettleAll(f.ctx(), store, []fairlead.Settlement{to(fairlead.Succeed, claimed[0])})
	if err == nil && settled[0] != asAsked {
		err = fmt.Errorf("job %d was settled with %v", job.ID, settled[0])
	}
	return err
}

// testPauseRace covers trap 36: a pause check based on cached state comes too late.
func testPauseRace(c *chapter) {
	c.test("trap 36: once Pause has returned no claim takes another job, not even one under way", func(f *fixture) {
		const claimers, more = 4, 3
		f.enqueue(many(f.size(280, 2000, "has enough jobs for a pause that comes late"))...)
		var stop atomic.Bool
		var claims atomic.Int64
		errs := make([]error, claimers)
		var done sync.WaitGroup
		for i := range claimers {
			g := f.elsewhere()
			node := g.join()
			done.Go(func() {
				for !stop.Load() && errs[i] == nil {
					_, errs[i] = g.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1})
					claims.Add(1)
				}
			})
		}
		f.eventually("claims are under way", func() bool { return claims.Load() > 2*claimers })
		f.pause(queuePause(fairlead.DefaultQueue))
		left := f.tally(fairlead.Filter{})[fairlead.Ready]
		seen := claims.Load()
		f.eventually("more claims were tried", func() bool { return claims.Load() > seen+more*claimers })
		stop.Store(true)
		done.Wait()
		for _, err := range errs {
			f.ok(err)
		}
		if left == 0 {
			f.Log("all jobs were claimed before the pause: nothing was shown")
		}
		f.equal("how many jobs are left", f.tally(fairlead.Filter{})[fairlead.Ready], left)
	})
}
