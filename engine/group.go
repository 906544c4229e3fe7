package engine

import (
	"sync"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
)

// group is a number of slots and the queues that share them. Claimed jobs wait
// in its queue until one of its workers takes them.
type group struct {
	life    *life
	scope   *fairlead.Scope
	slots   int
	entries map[string]*fairlead.Entry

	claims   *loop
	suspects *loop

	queue   chan *run
	queued  atomic.Int64 // in queue
	busy    atomic.Int64 // slots that run a handler
	started atomic.Int64 // runs taken by workers, ever: tells the rate
	ahead   atomic.Int64 // jobs worth holding beyond the slots
	backlog atomic.Bool  // there is probably more to claim
	resting atomic.Bool  // the claim loop waits for a moment on purpose

	kinds map[string]*kindRoom // those with a MaxRunning; shared by the node's groups

	mu      sync.Mutex
	workers int // goroutines that take from queue
	closed  bool
}

// kindRoom bounds one kind on this node.
type kindRoom struct {
	max  int
	held atomic.Int64 // claimed and not ended
}

func newGroup(l *life, plan groupPlan, entries map[string]*fairlead.Entry, kinds map[string]*kindRoom) *group {
	o := l.options
	return &group{
		life: l, scope: plan.scope, slots: plan.slots, entries: entries, kinds: kinds,
		claims:   newLoop("claim", o.Poll, l.log),
		suspects: newLoop("claim suspects", o.Poll, l.log),
		// A claim asks for no more than this, so that handing over never blocks.
		queue: make(chan *run, plan.slots+o.QueueSize+1),
	}
}

// wake says that there may be jobs to claim.
func (g *group) wake() {
	g.backlog.Store(true)
	if !g.resting.Load() {
		g.claims.poke()
	}
}

// accept takes over claimed jobs.
func (g *group) accept(jobs []*fairlead.Job) {
	if len(jobs) == 0 {
		return
	}
	runs := make([]*run, len(jobs))
	for i, job := range jobs {
		runs[i] = &run{job: job, entry: g.entries[job.Kind], group: g, save: g.life.store.Save}
		if room := g.kinds[job.Kind]; room != nil {
			room.held.Add(1)
		}
	}
	g.life.registry.add(runs)
	g.queued.Add(int64(len(runs)))
	for _, r := range runs {
		g.queue <- r
	}
	g.hire()
}

// hire starts workers for the jobs that have none, as far as there are slots.
func (g *group) hire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	// A worker counts its job as busy before it counts it as no longer queued,
	// so that this sum never misses one.
	for need := int(g.queued.Load() + g.busy.Load()); g.workers < min(need, g.slots); {
		g.workers++
		go g.work()
	}
}

// work is one worker: it takes jobs until the queue is closed. The life waits
// for workers through the registry and stopWorkers.
func (g *group) work() {
	for r := range g.queue {
		g.busy.Add(1)
		g.queued.Add(-1)
		g.started.Add(1)
		g.life.execute(r)
		if room := g.kinds[r.job.Kind]; room != nil {
			room.held.Add(-1)
			g.wake() // the last claim may have left jobs of this kind
		}
		if !r.slotted.CompareAndSwap(false, true) {
			return // another worker has its slot
		}
		g.busy.Add(-1)
		if g.backlog.Load() {
			g.wake()
		}
	}
}

// giveSlotAway lets another worker have the slot of a run that will not end.
func (g *group) giveSlotAway(r *run) {
	if !r.slotted.CompareAndSwap(false, true) {
		return
	}
	g.mu.Lock()
	g.workers--
	g.mu.Unlock()
	g.busy.Add(-1)
	g.hire()
	g.wake()
}

// giveBackQueued releases what has not started.
func (g *group) giveBackQueued() {
	runs := g.emptyQueue()
	for _, r := range runs {
		r.settled.Store(true)
		g.life.settle(r, fairlead.Release())
	}
	g.life.registry.over(runs...)
}

// dropQueued forgets what has not started: its lease is lost.
func (g *group) dropQueued() {
	runs := g.emptyQueue()
	g.life.forget(runs)
	g.life.registry.over(runs...)
}

func (g *group) emptyQueue() []*run {
	var runs []*run
	for {
		select {
		case r := <-g.queue:
			g.queued.Add(-1)
			runs = append(runs, r)
		default:
			return runs
		}
	}
}

// stopWorkers ends the workers once they have nothing left to do.
func (g *group) stopWorkers() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed = true
		close(g.queue)
	}
}
