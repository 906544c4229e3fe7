package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// churn is a cluster under load: workers that claim, settle and die, and others that
// enqueue, cancel, do housekeeping and read.
type churn struct {
	*fixture
	leases    *leaseTracker
	total     int64        // number of jobs to enqueue
	asked     atomic.Int64 // number of jobs passed to Enqueue
	committed atomic.Int64 // number of jobs that Enqueue has acknowledged
	known     sync.Map     // their IDs
	over      chan struct{}
	stop      func(error) // ends the work; only the first error counts
}

// idle is the pause, in real time, of a participant that found nothing to do.
const idle = 2 * time.Millisecond

// testChurn runs the cluster until every job has ended.
func testChurn(f *fixture) {
	const workers, enqueuers = 16, 2
	jobs := f.size(120, 2000, "runs the cluster for seconds")
	c := &churn{fixture: f, leases: newLeaseTracker(), total: int64(jobs), over: make(chan struct{})}
	var once sync.Once
	var failure error
	c.stop = func(err error) {
		once.Do(func() {
			failure = err
			close(c.over)
		})
	}
	processes := f.processes(4)
	var everybody sync.WaitGroup
	hire := func(i int, work func(store Store, random *rand.Rand) error) {
		store, random := processes[i%len(processes)].store, rand.New(rand.NewPCG(8, uint64(i)))
		everybody.Go(func() {
			if err := work(store, random); err != nil {
				c.stop(err)
			}
		})
	}
	for i := range workers {
		hire(i, c.work)
	}
	for i := range enqueuers {
		hire(i, func(store Store, random *rand.Rand) error {
			return c.enqueueAll(store, random, jobs/enqueuers)
		})
	}
	hire(0, c.cancelSome)
	hire(1, c.keepHouse)
	hire(2, c.lookOn)
	hire(3, func(Store, *rand.Rand) error { return c.waitForTheEnd() })
	everybody.Wait()
	f.ok(failure)
	for _, fault := range c.leases.faults {
		f.Error(fault)
	}
	tally := f.tally(fairlead.Filter{})
	f.equal("the number of ended jobs", tally[fairlead.Succeeded]+tally[fairlead.Failed]+tally[fairlead.Cancelled], int64(jobs))
	f.equal("the number of ends that workers were told of", int64(len(c.leases.ended)), tally[fairlead.Succeeded]+tally[fairlead.Failed])
}

// going reports whether there is work left.
func (c *churn) going() bool {
	select {
	case <-c.over:
		return false
	default:
		return true
	}
}

// waitForTheEnd ends the work once all jobs have ended.
func (c *churn) waitForTheEnd() error {
	for c.going() {
		tally, err := c.store.Tally(c.ctx(), fairlead.Filter{})
		if err != nil {
			return err
		}
		if tally[fairlead.Succeeded]+tally[fairlead.Failed]+tally[fairlead.Cancelled] == c.total {
			c.stop(nil)
		}
		<-time.After(idle)
	}
	return nil
}

// work simulates a worker, which occasionally dies and comes back as a new node.
func (c *churn) work(store Store, random *rand.Rand) error {
	scope := mixedScope()
	for c.going() {
		node, err := store.Join(c.ctx(), fairlead.Node{Name: "worker"}, lease)
		if err != nil {
			return err
		}
		for range 8 {
			claim := driver.Claim{Node: node, Scope: scope, Max: 1 + random.IntN(30)}
			if random.IntN(4) == 0 {
				claim.Solo, claim.Max = true, 1
			}
			jobs, err := store.Claim(c.ctx(), claim)
			if err != nil {
				return err
			}
			c.leases.lease(jobs)
			if len(jobs) == 0 {
				<-time.After(idle)
			}
			if len(jobs) > 0 && random.IntN(12) == 0 {
				c.leases.part(jobs)
				break // the node dies while it holds the jobs
			}
			if err := c.SettleAll(store, random, jobs); err != nil {
				return err
			}
		}
		if err := store.Leave(c.ctx(), node); err != nil {
			return err
		}
	}
	return nil
}

// SettleAll settles the jobs that a worker claimed, mostly as succeeded.
func (c *churn) SettleAll(store Store, random *rand.Rand, jobs []*fairlead.Job) error {
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		switch random.IntN(12) {
		case 0:
			settlements[i] = to(fairlead.Fail, job)
		case 1:
			settlements[i] = again(job, time.Duration(random.IntN(3))*time.Second)
		case 2:
			settlements[i] = to(fairlead.MoveRelease, job)
		default:
			settlements[i] = to(fairlead.Succeed, job)
		}
	}
	c.leases.part(jobs)
	settled, err := SettleAll(c.ctx(), store, settlements)
	if err != nil {
		return err
	}
	for i, answer := range settled {
		move := settlements[i].Move
		switch {
		case answer == lost:
			return fmt.Errorf("job %d was lost by a node that lives", jobs[i].ID)
		case answer == asAsked && (move == fairlead.Succeed || move == fairlead.Fail):
			c.leases.end(jobs[i].ID)
		}
	}
	return nil
}

// enqueueAll enqueues n jobs, some of them scheduled for later.
func (c *churn) enqueueAll(store Store, random *rand.Rand, n int) error {
	for n > 0 && c.going() {
		now, err := store.Now(c.ctx())
		if err != nil {
			return err
		}
		jobs := mixed(min(n, 1+random.IntN(40)), 12, now, random)
		for _, job := range jobs {
			if random.IntN(4) == 0 {
				job.NotBefore, job.StartBy = now.Add(time.Duration(random.IntN(3))*time.Second), time.Time{}
			}
			normalized(job)
		}
		c.asked.Add(int64(len(jobs)))
		if err := store.Enqueue(c.ctx(), jobs); err != nil {
			return err
		}
		c.committed.Add(int64(len(jobs)))
		for _, job := range jobs {
			c.known.Store(job.ID, true)
		}
		n -= len(jobs)
	}
	return nil
}

// anyKnown returns the ID of an enqueued job.
func (c *churn) anyKnown() (id int64, ok bool) {
	c.known.Range(func(key, _ any) bool {
		id, ok = key.(int64), true
		return rand.IntN(20) != 0
	})
	return id, ok
}

// cancelSome cancels random jobs.
func (c *churn) cancelSome(store Store, _ *rand.Rand) error {
	for range 60 {
		id, ok := c.anyKnown()
		if ok && c.going() {
			if err := operations(store).Cancel(c.ctx(), id, "churn"); err != nil && !errors.Is(err, fairlead.ErrConflict) {
				return err
			}
		}
		<-time.After(idle)
	}
	return nil
}

// keepHouse promotes, reaps and advances the clock.
func (c *churn) keepHouse(store Store, _ *rand.Rand) error {
	for c.going() {
		c.Advance(100 * time.Millisecond)
		if _, err := store.Promote(c.ctx(), 50); err != nil {
			return err
		}
		if _, err := store.Reap(c.ctx(), driver.Reap{MaxCrashes: patience, Limit: 50}); err != nil {
			return err
		}
		<-time.After(idle)
	}
	return nil
}

// lookOn checks that a reader finds every job exactly once while jobs move.
func (c *churn) lookOn(store Store, _ *rand.Rand) error {
	for c.going() {
		atLeast := c.committed.Load()
		tally, err := store.Tally(c.ctx(), fairlead.Filter{})
		if err != nil {
			return err
		}
		atMost, total := c.asked.Load(), int64(0)
		for _, n := range tally {
			total += n
		}
		if total < atLeast || total > atMost {
			return fmt.Errorf("a snapshot has %d jobs, want between %d and %d", total, atLeast, atMost)
		}
		if id, ok := c.anyKnown(); ok {
			jobs, err := store.Find(c.ctx(), fairlead.Filter{IDs: []int64{id}})
			if err != nil {
				return err
			}
			if len(jobs) != 1 {
				return fmt.Errorf("a reader found job %d %d times", id, len(jobs))
			}
		}
		<-time.After(idle)
	}
	return nil
}
