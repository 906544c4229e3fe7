package engine

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// group is a number of slots and the queues that share them.
type group struct {
	life    *life
	scope   *driver.Scope
	slots   int
	entries map[string]*fairlead.Entry

	claims   *loop
	suspects *loop
	anew     chan struct{} // capacity 1: claiming is to begin anew

	crew      *crew
	documents *documents
	held      atomic.Int64 // jobs queued or running
	busy      atomic.Int64 // slots that run a handler
	started   atomic.Int64 // runs taken by workers, ever: tells the rate
	claimed   atomic.Int64 // jobs that claims brought, ever
	ended     atomic.Int64 // runs that have ended, ever
	ahead     atomic.Int64 // jobs worth holding beyond the slots
	backlog   atomic.Bool  // there is probably more to claim
	urgent    atomic.Bool  // what there is to claim has come since the last claim
	resting   atomic.Int32 // for what the claim loop does not wake before a moment is over

	kinds  map[string]*kindRoom // those with a MaxRunning; shared by the node's groups
	shards []string             // the kinds of jobs that go over shards of sweeps
}

// For what a resting claim loop does not wake.
const (
	forNobody int32 = iota // it does not rest
	forRoom                // room under limits: each job that ends makes some
	forAll
)

// kindRoom bounds one kind on this node.
type kindRoom struct {
	max  int
	held atomic.Int64 // claimed and not ended
}

func newGroup(l *life, plan groupPlan, entries map[string]*fairlead.Entry, kinds map[string]*kindRoom) *group {
	o := l.options
	g := &group{
		life: l, scope: plan.scope, slots: plan.slots, entries: entries, kinds: kinds,
		claims:   l.newLoop("claim", o.Poll),
		suspects: l.newLoop("claim suspects", o.Poll),
		anew:     make(chan struct{}, 1),

		documents: newDocuments(plan.slots),
	}
	for kind := range entries {
		if sweep.IsShardKind(kind) {
			g.shards = append(g.shards, kind)
		}
	}
	g.crew = newCrew(plan.slots, g.work)
	return g
}

// wake says that there may be new jobs to claim.
func (g *group) wake() {
	g.urgent.Store(true)
	g.backlog.Store(true)
	if g.resting.Load() < forAll {
		g.claims.poke()
	}
}

// wakeSoon says that there may be room for jobs which were there before.
func (g *group) wakeSoon() {
	g.backlog.Store(true)
	if g.resting.Load() == forNobody {
		g.claims.poke()
	}
}

// accept takes over claimed jobs.
func (g *group) accept(jobs []*fairlead.Job) {
	if len(jobs) == 0 {
		return
	}
	runs := make([]*run, len(jobs))
	var refused []*run
	for i, job := range jobs {
		runs[i] = &run{job: job, entry: g.entries[job.Kind], group: g, save: g.life.store.Save, leased: g.life.lease.endsAt, leaving: g.life.departure.begun(), secrets: g.life.engine.secrets}
		if sweep.IsShardKind(job.Kind) {
			runs[i].own = g.life.departure.alone()
			runs[i].leaving = runs[i].own.told
		}
		if room := g.kinds[job.Kind]; room != nil {
			room.held.Add(1)
		}
		g.documents.add(runs[i])
		if job.Bare || !g.life.sweeps.admit(job, time.Now()) {
			refused = append(refused, runs[i])
		} else {
			runs[i].admitted = true
			if runs[i].own != nil && g.life.steerer != nil {
				g.life.steerer.learn()
			}
		}
	}
	g.life.registry.add(runs)
	g.held.Add(int64(len(runs)))
	if len(refused) > 0 {
		g.giveBack(refused)
		runs = slices.DeleteFunc(runs, func(r *run) bool { return !r.admitted })
	}
	if g.life.engine.drained.Load() { // since the claim was sent
		g.giveBack(runs)
		return
	}
	g.crew.add(runs)
	if g.life.engine.drained.Load() { // in this very moment: the queue may have been emptied before
		g.giveBackQueued()
	}
}

// work runs one job in a slot, and reports whether the slot is still the
// worker's own.
func (g *group) work(r *run) bool {
	g.busy.Add(1)
	g.started.Add(1)
	g.life.execute(r)
	g.ended.Add(1)
	g.leaveSweep(r)
	g.documents.drop(r)
	if room := g.kinds[r.job.Kind]; room != nil {
		room.held.Add(-1)
		g.wakeSoon() // the last claim may have left jobs of this kind
	}
	if !r.slotted.CompareAndSwap(false, true) {
		return false
	}
	g.free()
	return true
}

// free notes that a job needs no slot any more.
func (g *group) free() {
	g.busy.Add(-1)
	g.held.Add(-1)
	if g.backlog.Load() {
		g.wakeSoon()
	}
}

// settledSome says that what was not settled may have kept the group from claiming.
func (g *group) settledSome() {
	if g.backlog.Load() {
		g.wakeSoon()
	}
}

// giveSlotAway lets another worker have the slot of a run that will not end.
func (g *group) giveSlotAway(r *run) {
	if r.slotted.CompareAndSwap(false, true) {
		g.crew.giveSlotAway()
		g.free()
	}
}

// giveBackQueued releases what has not started.
func (g *group) giveBackQueued() { g.giveBack(g.crew.empty()) }

// giveBack releases runs that no worker will get.
func (g *group) giveBack(runs []*run) {
	g.unhold(runs)
	for _, r := range runs {
		r.settled.Store(true)
		g.life.settle(r, fairlead.Release())
	}
	g.life.registry.over(runs...)
}

// dropQueued forgets what has not started: its lease is lost.
func (g *group) dropQueued() {
	runs := g.crew.empty()
	g.unhold(runs)
	g.life.forget(runs)
	g.life.registry.over(runs...)
}

// unhold makes room for as many jobs as the group will not run.
func (g *group) unhold(runs []*run) {
	g.held.Add(-int64(len(runs)))
	for _, r := range runs {
		if room := g.kinds[r.job.Kind]; room != nil {
			room.held.Add(-1)
		}
		g.documents.drop(r)
		g.leaveSweep(r)
	}
}

// leaveSweep is for a run that is over: it may have gone over a shard.
func (g *group) leaveSweep(r *run) {
	if r.own == nil {
		return
	}
	g.life.departure.forget(r.own)
	if r.admitted {
		g.life.sweeps.leave(r)
	}
}
