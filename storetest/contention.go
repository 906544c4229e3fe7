package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// processes opens the database n times, like separate processes.
func (f *fixture) processes(n int) []*fixture {
	list := []*fixture{f}
	for len(list) < n {
		list = append(list, f.elsewhere())
	}
	return list
}

func testContention(c *chapter) {
	c.test("trap 16: claimers at once take a prefix of the order, each of them in order", func(f *fixture) {
		const claimers = 16
		jobs := mixed(f.size(250, 1200, "claims for longer"), 20, f.now(), rand.New(rand.NewPCG(5, 6)))
		f.enqueue(jobs...)
		order := ids(inTurn(jobs))
		processes := f.processes(4)
		node, scope := f.join(), mixedScope()
		for round := 0; len(order) > 0; round++ {
			claims, errs, rivals := make([][]*fairlead.Job, claimers), make([]error, claimers), make([]func(), claimers)
			for i := range rivals {
				store, size := processes[i%len(processes)].store, 1+(7*i+round)%20
				rivals[i] = func() {
					claims[i], errs[i] = store.Claim(f.ctx(), driver.Claim{Node: node, Scope: scope, Max: size})
				}
			}
			together(rivals...)
			f.ok(first(errs))
			var taken []int64
			for _, claim := range claims {
				f.equal("the order within one claim", ids(claim), ids(inTurn(claim)))
				taken = append(taken, ids(claim)...)
			}
			if len(taken) == 0 {
				f.Fatalf("nobody got any of %d jobs", len(order))
			}
			if len(taken) > len(order) {
				f.Fatalf("%d jobs were claimed and only %d were left", len(taken), len(order))
			}
			f.equal("what was taken, in order", sorted(taken), sorted(order[:len(taken)]))
			order = order[len(taken):]
		}
	})
	c.test("tenants of weights 3 and 1 share ten thousand starts of four nodes 3 : 1", testFairContention)
	c.test("every job ends once, whatever the nodes do at once", testChurn)
	c.test("of all verbs at once on few jobs each does what it says or conflicts", testMelee)
}

// testMelee runs random concurrent operations on the same few jobs. A job must stay in
// exactly one place.
func testMelee(f *fixture) {
	const fighters = 8
	blows := f.size(10, 40, "fights for longer")
	jobs := many(5, keyed(""))
	for i, job := range jobs {
		job.Key = fmt.Sprint("key ", i)
	}
	f.enqueue(jobs...)
	processes := f.processes(2)
	node := f.join()
	errs, fight := make([]error, fighters), make([]func(), fighters)
	for i := range fight {
		store, random := processes[i%len(processes)].store, rand.New(rand.NewPCG(7, uint64(i)))
		fight[i] = func() {
			for range blows {
				err := strike(f, store, node, jobs[random.IntN(len(jobs))].ID, random)
				if err != nil && !errors.Is(err, fairlead.ErrConflict) && !errors.Is(err, fairlead.ErrLeaseLost) {
					errs[i] = err
					return
				}
			}
		}
	}
	together(fight...)
	f.ok(first(errs))
	found := f.find(fairlead.Filter{})
	f.equal("the jobs that are found", sorted(ids(found)), ids(jobs))
	tally := map[fairlead.State]int64{}
	for _, job := range found {
		tally[job.State]++
		f.equal("the job", f.get(job), job)
	}
	f.equal("the tally", f.tally(fairlead.Filter{}), tally)
	for _, job := range found {
		if !job.State.Final() {
			f.wantTaken(f.tryEnqueue(with(keyed(job.Key))), job)
		}
	}
}

// strike performs one random operation.
func strike(f *fixture, store Store, node fairlead.NodeID, id int64, random *rand.Rand) error {
	ctx := f.ctx()
	switch random.IntN(9) {
	case 8:
		return operations(store).SetQueue(ctx, id, []string{fairlead.DefaultQueue, "melee"}[random.IntN(2)])
	case 0:
		return operations(store).Cancel(ctx, id, "melee")
	case 1:
		return operations(store).Reopen(ctx, id)
	case 2:
		return operations(store).RunNow(ctx, id)
	case 3:
		return operations(store).SetPriority(ctx, id, random.IntN(5))
	case 4:
		now, err := store.Now(ctx)
		if err != nil {
			return err
		}
		return operations(store).Reschedule(ctx, id, now.Add(time.Duration(random.IntN(3)-1)*time.Hour))
	case 5:
		_, err := store.Promote(ctx, 10)
		return err
	}
	claimed, err := store.Claim(ctx, driver.Claim{Node: node, Scope: everything(), Max: 2})
	if err != nil {
		return err
	}
	moves := []fairlead.Move{fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease}
	var settlements []fairlead.Settlement
	for _, job := range claimed {
		settlement := to(moves[random.IntN(len(moves))], job)
		settlement.After = time.Duration(random.IntN(2)) * time.Hour
		settlements = append(settlements, settlement)
	}
	settled, err := SettleAll(ctx, store, settlements)
	if err == nil && slices.Contains(settled, lost) {
		err = fmt.Errorf("a lease was lost that nobody could take: %v", settled)
	}
	return err
}

// leaseTracker tracks all leases while many workers run.
type leaseTracker struct {
	mu     sync.Mutex
	fences map[int64]int64 // largest fence of each job
	held   map[int64]bool  // jobs whose lease a worker holds, as far as it knows
	ended  map[int64]int   // how often a job was acknowledged as ended by its handler
	faults []string
}

func newLeaseTracker() *leaseTracker {
	return &leaseTracker{fences: map[int64]int64{}, held: map[int64]bool{}, ended: map[int64]int{}}
}

// lease records the result of a claim.
func (l *leaseTracker) lease(jobs []*fairlead.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, job := range jobs {
		switch {
		case l.held[job.ID]:
			l.fault("job %d was claimed while another had its lease", job.ID)
		case l.ended[job.ID] > 0:
			l.fault("job %d was claimed after its end", job.ID)
		case job.Fence <= l.fences[job.ID]:
			l.fault("job %d has fence %d after %d", job.ID, job.Fence, l.fences[job.ID])
		}
		l.held[job.ID], l.fences[job.ID] = true, job.Fence
	}
}

// part records that leases are about to end, because a settlement is being sent or a node
// is about to leave.
func (l *leaseTracker) part(jobs []*fairlead.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, job := range jobs {
		l.held[job.ID] = false
	}
}

// end records that the store acknowledged the end of a job.
func (l *leaseTracker) end(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended[id]++; l.ended[id] > 1 {
		l.fault("job %d ended twice", id)
	}
}

func (l *leaseTracker) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}
