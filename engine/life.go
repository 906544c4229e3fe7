package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/starts"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/schedule"
)

// errFenced is why a handler's context ended whose result does not count any
// more. The other causes are those of verdict.
var errFenced = errors.New("the node lost its lease")

// life is a node from joining to leaving. Its id is never used again.
type life struct {
	engine  *Engine
	store   Source
	keeper  driver.Keeper  // nil: others do the housekeeping
	planner schedule.Store // nil: others act upon schedules
	alerts  alert.Source   // nil: others look for what is to be reported
	holds   hold.Source    // nil: others record what keeps jobs waiting
	batches *conductor     // nil: others act upon batches
	steerer *steerer       // nil: others act upon sweeps
	sweeps  *sweeps
	options Options
	log     *slog.Logger
	id      fairlead.NodeID

	lease    *lease
	registry *registry
	settler  *settler
	held     *heldWriter // of runs whose jobs transactions of callers hold
	failures *failures
	replacer *replacer // of runs whose successor has a key, for which the store may have to wait
	starts   *starts.Counter
	tellers  []*teller
	groups   []*group
	beats    *loop
	promoter *loop
	firer    *loop
	audits   *loop
	yields   *loop
	telling  *loop
	reporter *loop

	unattended *unattended // nil: no hook wants to know of failures, or others look for them

	// claiming keeps the audit from seeing a lease whose claim is still on its way back.
	claiming *claimGate

	steadySince atomic.Pointer[time.Time] // since when every beat succeeded; nil after a failure
	stuck       atomic.Int64              // handlers that ignore the end of their context
	solo        atomic.Bool               // whether a crash suspect is here
	draining    atomic.Bool               // no new jobs are taken
	departure   *departure
	hooks       sync.WaitGroup // calls of OnFailed and of listeners under way
}

func newLife(e *Engine, id fairlead.NodeID, sent time.Time) *life {
	o := e.options
	l := &life{
		engine: e, store: e.store, options: o, id: id,
		log:      e.log.With("node", int64(id)),
		lease:    newLease(o.Lease-o.fenceMargin(), sent),
		registry: newRegistry(),
		starts:   starts.New(),

		departure: newDeparture(),
		claiming:  newClaimGate(),
	}
	l.keeper, _ = e.store.(driver.Keeper)
	l.planner, _ = e.store.(schedule.Store)
	l.alerts, _ = e.store.(alert.Source)
	l.holds, _ = e.store.(hold.Source)
	if store, ok := e.store.(batch.Store); ok {
		l.batches = newConductor(l, store)
	}
	l.sweeps = newSweeps(o)
	if store, ok := e.store.(driver.Store); ok {
		l.steerer = newSteerer(l, store)
	}
	l.settler, l.held, l.replacer = newSettler(l), newHeldWriter(l), newReplacer(l)
	l.failures = newFailures(l.log)
	l.tellers = newTellers(l, o.Listeners)
	l.unattended = newUnattended(l)
	l.beats = l.newLoop("beat", o.Beat)
	l.promoter = l.newLoop("promote", o.Poll)
	l.firer = l.newLoop("fire", o.Poll)
	l.audits = l.newLoop("audit", o.Lease)
	l.yields = l.newLoop("yield", o.Lease)
	l.reporter = l.newLoop("report", reportEvery)
	l.telling = l.newLoop("report lost leases", o.Lease/4)
	entries, kinds := map[string]*fairlead.Entry{}, map[string]*kindRoom{}
	for _, kind := range e.mux.Kinds() {
		entries[kind] = e.mux.Entry(kind)
		if bound := entries[kind].Options.MaxRunning; bound > 0 {
			kinds[kind] = &kindRoom{max: bound}
		}
	}
	for _, plan := range o.plan(e.mux.Kinds()) {
		l.groups = append(l.groups, newGroup(l, plan, entries, kinds))
	}
	return l
}

// run starts every loop, waits for ctx or for the lease to be lost, and ends
// them in the reverse order. It returns ErrLeaseLost, ctx's error, or a
// stuckError.
func (l *life) run(ctx context.Context) error {
	l.log.Info("joined", "slots", l.options.totalSlots(), "lease", l.options.Lease)
	// Beats and settlements outlive ctx: they are what draining needs.
	base, endBase := context.WithCancel(context.WithoutCancel(ctx))
	defer endBase()
	var core, work, settling sync.WaitGroup

	working, endWork := context.WithCancel(ctx)
	defer endWork()
	lost := make(chan error, 1)
	core.Go(func() { l.keepBeating(base, lost) })
	core.Go(func() { l.watchHandlers(base) })
	core.Go(func() { l.keepTelling(base) })
	core.Go(func() { l.failures.run(base) })
	saving, endSaving := context.WithCancel(base)
	defer endSaving()
	settling.Go(func() { l.replacer.run(saving) })
	settling.Go(func() {
		l.settler.run(saving)
		l.held.finish() // the settler hands runs over until its end
	})
	settling.Go(func() { l.held.run(saving) })
	for _, g := range l.groups {
		work.Go(func() { g.keepClaiming(working) })
		work.Go(func() { g.claimSuspects(working) })
		work.Go(func() { g.watchStalls(working) })
		work.Go(func() { l.listen(working, g) })
	}
	loops := []func(context.Context){l.keepAuditing, l.keepYielding, l.keepReporting}
	if l.keeper != nil {
		loops = append(loops, l.keepPromoting, l.keepReaping, l.watchUnreaped, l.keepExpiring, l.keepRemoving, l.keepPruning)
	}
	if l.planner != nil {
		loops = append(loops, l.keepFiring)
	}
	if l.alerts != nil {
		loops = append(loops, l.keepAlerting)
	}
	if l.holds != nil && l.options.HoldRetention > 0 {
		loops = append(loops, l.keepWitnessing)
	}
	if l.batches != nil {
		loops = append(loops, l.batches.run)
	}
	if l.steerer != nil {
		loops = append(loops, l.steerer.run)
	}
	if l.unattended != nil {
		loops = append(loops, l.unattended.run)
	}
	for _, keep := range loops {
		work.Go(func() { keep(working) })
	}

	var result error
	select {
	case <-ctx.Done():
		result = ctx.Err()
		l.draining.Store(true)
		l.departure.begin()
		endWork()
		work.Wait()
		l.releaseStraysOnce(base)
		if err := l.drain(lost); err != nil {
			result = err
		}
	case result = <-lost:
		endWork()
		work.Wait()
		l.fence() // the beat has done so: this is for what a claim that was under way has brought
	}
	remaining := l.awaitHandlers(l.options.Grace)
	l.settler.finish()
	l.replacer.finish()
	// A database that does not answer must not keep the node from ending: what
	// cannot be settled within a lease is left for others to take back.
	patience := time.AfterFunc(l.options.Lease, endSaving)
	settling.Wait()
	patience.Stop()
	l.unattended.finish(base)
	l.leave(base)
	l.awaitHooks()
	endBase()
	core.Wait()
	if remaining > 0 && ctx.Err() != nil {
		return stuckError(remaining)
	}
	return result
}

// drain lets running handlers end and gives back what has not started. It returns
// ErrLeaseLost if the lease did not hold.
func (l *life) drain(lost <-chan error) error {
	l.log.Info("draining", "running", l.registry.size())
	for _, g := range l.groups {
		g.giveBackQueued()
	}
	timer := time.NewTimer(l.options.DrainTimeout)
	defer timer.Stop()
	select {
	case <-l.registry.whenIdle():
		if l.lease.valid() {
			return nil
		}
		select { // handlers also end because it was lost
		case err := <-lost:
			return err
		default:
			return fairlead.ErrLeaseLost
		}
	case <-timer.C:
		l.registry.endAll(verdict.ErrDraining)
		return nil
	case err := <-lost:
		l.fence()
		return err
	}
}

// fence ends all that runs: it no longer counts.
func (l *life) fence() {
	l.lease.end()
	for _, g := range l.groups {
		g.dropQueued()
	}
	l.registry.endAll(errFenced)
}

// awaitHandlers waits for handlers whose context has ended and returns how
// many would not.
func (l *life) awaitHandlers(grace time.Duration) int {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-l.registry.whenIdle():
	case <-timer.C:
	}
	for _, g := range l.groups {
		g.crew.close()
	}
	remaining := l.registry.snapshot()
	for _, r := range remaining {
		l.abandon(r)
	}
	if len(remaining) == 0 {
		for _, g := range l.groups {
			g.crew.all.Wait()
		}
	}
	return len(remaining)
}

// awaitHooks gives OnFailed and listeners a grace to end.
func (l *life) awaitHooks() {
	for _, t := range l.tellers {
		t.close()
	}
	ended := make(chan struct{})
	go func() {
		l.hooks.Wait()
		close(ended)
	}()
	timer := time.NewTimer(l.options.Grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		l.log.Error("OnFailed or a listener does not return; stopping the node without it")
	}
}

// leave gives up the lease so that others need not wait for its end. If the store does
// not answer, they do wait.
func (l *life) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Beat)
	defer cancel()
	if err := l.store.Leave(ctx, l.id); err != nil {
		l.log.Warn("cannot release the lease; it will expire", "error", err)
		return
	}
	l.log.Info("left")
}

// listen passes the store's news on to the loops that want them.
func (l *life) listen(ctx context.Context, g *group) {
	listener := l.newLoop("listen", l.options.Poll)
	listener.run(ctx, func(ctx context.Context) (time.Duration, error) {
		return 0, l.store.Listen(ctx, g.scope, func(wake driver.Wake) {
			switch wake {
			case driver.WakeWork:
				g.wake()
				if l.steerer != nil && len(g.shards) > 0 {
					l.steerer.hurry()
				}
			case driver.WakeRoom:
				g.wakeSoon()
			case driver.WakeLater:
				l.promoter.poke()
				l.firer.poke()
			case driver.WakeCancel:
				l.beats.poke()
				l.yields.poke()
			case driver.WakeListening:
				g.wake()
				l.promoter.poke()
				l.firer.poke()
				l.beats.poke()
			}
		})
	})
}

func (l *life) wakeGroups() {
	for _, g := range l.groups {
		g.wake()
	}
}
