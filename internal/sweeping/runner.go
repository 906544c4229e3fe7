package sweeping

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/window"
)

// Runner runs a shard once.
type Runner struct {
	shard Shard
	pace  *pace.Pace

	handling       context.Context // context of handlers
	cancelHandling context.CancelCauseFunc
	fetching       context.Context // context of everything before a try; ends when nothing more may start
	cancelFetching context.CancelFunc

	halted  atomic.Bool   // nothing more may start
	turn    chan struct{} // held by the worker that fetches
	wake    chan struct{} // signals the fetching worker that something was settled
	toKeep  chan struct{} // signals that there are records
	hurry   chan struct{} // requests an immediate checkpoint
	workers sync.WaitGroup

	mu       sync.Mutex // guards all fields below; never held while waiting
	window   *window.Window
	cursor   int64 // items below it were handed out or are done
	absentTo int64 // there are no items in [cursor, absentTo)
	aside    aside
	redo     redo
	failures []Failure // not yet reported by a checkpoint
	redone   []int64   // not yet reported by a checkpoint
	counts   Counts
	spent    int64
	records  []record
	crew     []*worker
	inFlight int
	alone    bool // each worker has a goroutine of its own instead of a loop
	budget   int64
	idle     bool          // a goroutine waits for wake
	speed    time.Duration // duration of a try, slowly decreasing
	load     pace.Sample   // since the last tick
	governor *pace.Governor
	started  bool
	ending   Ending
}

// New validates a shard, restores its checkpoint and returns a runner for it.
func New(shard Shard) (*Runner, error) {
	shard, err := shard.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Runner{
		shard:    shard,
		pace:     pace.Resume(shard.Rate, shard.Owed),
		turn:     make(chan struct{}, 1),
		wake:     make(chan struct{}, 1),
		toKeep:   make(chan struct{}, 1),
		hurry:    make(chan struct{}, 1),
		window:   window.New(shard.Window, shard.From),
		aside:    newAside(),
		inFlight: shard.InFlight,
		budget:   shard.Budget,
		speed:    time.Second,
	}
	r.fetching, r.cancelFetching = context.WithCancel(context.Background()) // ends only by halt
	if shard.Adaptive != nil {
		r.governor = pace.NewGovernor(shard.Rate, *shard.Adaptive)
	}
	if shard.Resume != nil {
		if err := r.restore(*shard.Resume); err != nil {
			return nil, err
		}
	}
	r.cursor, r.absentTo = r.window.Mark(), r.window.Mark()
	return r, nil
}

func (r *Runner) restore(c Checkpoint) error {
	if c.Mark < r.shard.From || c.Mark > r.shard.To {
		return fmt.Errorf("sweeping: the saved mark %d is not between %d and %d", c.Mark, r.shard.From, r.shard.To)
	}
	if err := r.window.Restore(c.Mark, c.Window); err != nil {
		return err
	}
	if r.window.High() > r.shard.To {
		return fmt.Errorf("sweeping: the saved window goes beyond %d", r.shard.To)
	}
	r.counts, r.spent = c.Counts, c.Spent
	r.redo = redo{left: c.Again, next: r.shard.From, more: c.Again > 0}
	now := time.Now()
	for _, a := range c.Aside {
		if !r.window.IsDone(a.Index) || a.Index < r.shard.From || r.aside.all[a.Index] != nil {
			return fmt.Errorf("sweeping: saved deferred item %d does not match the window", a.Index)
		}
		w := &waiting{index: a.Index, tries: min(a.Tries, r.shard.Attempts-1), due: now}
		if w.tries > 0 {
			w.due = now.Add(r.shard.Backoff(w.tries))
		}
		r.aside.add(w)
	}
	return nil
}

// Run processes the shard until its run ends, and returns how it ended. By then, all
// handlers have returned, and a last checkpoint states exactly which items were processed.
// Run returns an error if that checkpoint could not be stored.
func (r *Runner) Run(ctx context.Context) (Ending, error) {
	r.handling, r.cancelHandling = context.WithCancelCause(ctx)
	defer r.cancelHandling(nil)
	defer r.cancelFetching()
	defer context.AfterFunc(ctx, func() { r.halt(Ending{End: Released}) })()

	r.mu.Lock()
	r.started = true
	r.employ()
	r.mu.Unlock()

	settled, kept := make(chan struct{}), make(chan struct{})
	var own sync.WaitGroup
	defer own.Wait()
	own.Go(func() { <-r.fetching.Done(); r.workers.Wait(); close(settled) })
	own.Go(func() { r.keepRecords(ctx, settled); close(kept) })
	r.keepCheckpoints(ctx, kept)
	return r.last(ctx)
}

// Stop ends the run as a stop order does. It may be called before Run.
func (r *Runner) Stop() { r.halt(Ending{End: Stopped}) }

// halt prevents further starts. The first reason counts, except that a lost lease always
// takes precedence.
func (r *Runner) halt(ending Ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.haltLocked(ending)
}

func (r *Runner) haltLocked(ending Ending) {
	if r.ending.End == Running || ending.End == Lost {
		r.ending = ending
	}
	r.halted.Store(true)
	r.cancelFetching()
}

// lose ends the run if err says that the lease is lost, and reports whether it does.
func (r *Runner) lose(err error) bool {
	if !errors.Is(err, fairlead.ErrLeaseLost) {
		return false
	}
	r.halt(Ending{End: Lost})
	r.cancelHandling(err)
	return true
}

// Order applies the given orders to the run.
func (r *Runner) Order(orders Orders) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if orders.Stop {
		r.haltLocked(Ending{End: Stopped})
	}
	if orders.Budget != nil {
		r.budget = *orders.Budget
	}
	if orders.InFlight != nil && !r.shard.Serial {
		r.inFlight = max(1, *orders.InFlight)
		r.employ()
	}
	if orders.Rate != nil {
		rate := *orders.Rate
		if r.governor != nil {
			r.governor.SetCeiling(rate)
			rate = r.governor.Rate()
		}
		r.pace.SetRate(rate)
		r.looping() // updates alone
	}
}

// employ starts workers up to the number of calls in flight. Surplus workers leave on their
// own.
func (r *Runner) employ() {
	if !r.started || r.halted.Load() {
		return
	}
	for len(r.crew) < r.inFlight {
		r.crew = append(r.crew, &worker{id: len(r.crew)})
	}
	var added []*worker
	for _, w := range r.crew[:r.inFlight] {
		if !w.employed {
			w.employed = true
			added = append(added, w)
		}
	}
	if len(added) >= leastLoop && r.looping() {
		r.employLoops(added)
		return
	}
	for _, w := range added {
		r.workers.Go(func() { r.work(w) })
	}
}
