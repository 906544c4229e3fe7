package sweeping

import (
	"context"
	"runtime"
	"time"

	"github.com/fairlead-io/fairlead/internal/pace"
)

// Loop tries many items concurrently on one goroutine. It suits handlers that spend most of
// their time waiting, because one goroutine per item would cost more than the handlers'
// work.
type Loop interface {
	// Begin starts to try an item under a number.
	Begin(number int, item Item)
	// Wait waits until items have ended, at most for a duration. Its result is valid until
	// the next call.
	Wait(most time.Duration) []Ended
	// Fits reports whether the loop is still preferable to goroutines.
	Fits() bool
	// Close is called once nothing is in progress.
	Close()
}

// Ended holds the outcome of a finished try.
type Ended struct {
	Number  int
	Outcome Outcome
}

// NewLoop returns a new loop that ends its items' tries when ctx ends. It may return nil.
type NewLoop func(ctx context.Context) Loop

const (
	leastLoop = 8                      // concurrent items that justify a loop
	perLoop   = 32                     // concurrent items that justify another loop
	loopLook  = 5 * time.Millisecond   // interval at which an idle loop looks for more items
	loopPause = 100 * time.Millisecond // longest wait of a loop
)

// looping reports whether to use loops. A worker that waits for a rate would keep a loop
// from processing ended items, so there are no more loops once there is a rate.
func (r *Runner) looping() bool {
	r.alone = r.alone || r.shard.Loop == nil || r.shard.Serial || r.shard.Batch > 1 || r.shard.Adaptive != nil || r.pace.Rate() != pace.Unlimited
	return !r.alone
}

// employLoops starts loops that do the work of a crew.
func (r *Runner) employLoops(crew []*worker) {
	teams := max(1, min(len(crew)/perLoop, runtime.GOMAXPROCS(0)))
	for i := range teams {
		team := crew[i*len(crew)/teams : (i+1)*len(crew)/teams]
		r.workers.Go(func() { r.drive(team) })
	}
}

// drive does the work of a team with a loop. If there is no loop, or the loop stops being
// suitable, each member of the team gets a goroutine.
func (r *Runner) drive(team []*worker) {
	loop := r.shard.Loop(r.handling)
	fits := loop != nil
	if fits {
		d := &driver{Runner: r, loop: loop, team: team}
		for i := range team {
			team[i].looped = true
			d.free = append(d.free, len(team)-1-i)
		}
		d.run()
		fits = loop.Fits()
		loop.Close()
		team = d.remaining()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alone = r.alone || !fits
	for _, w := range team {
		w.employed, w.looped = false, false
	}
	r.employ()
}

// driver is a loop together with the team whose work it does.
type driver struct {
	*Runner
	loop   Loop
	team   []*worker
	free   []int // team members without an item
	gone   int   // number of team members no longer needed
	waited bool  // the next items are taken when nothing is in progress
	now    time.Time
}

// remaining returns the team members that are still needed.
func (d *driver) remaining() []*worker {
	var remaining []*worker
	for _, number := range d.free {
		remaining = append(remaining, d.team[number])
	}
	return remaining
}

// run runs the loop until nothing is in progress and nothing is left to start.
func (d *driver) run() {
	for {
		d.begin()
		if d.idle() {
			return
		}
		long := loopPause
		if len(d.free) > 0 {
			long = loopLook
		}
		ended := d.loop.Wait(long)
		d.now = time.Now()
		for i := range ended {
			d.end(ended[i])
		}
	}
}

// idle reports whether nothing is in progress.
func (d *driver) idle() bool { return len(d.free)+d.gone == len(d.team) }

// begin gives items to idle team members while items are available.
func (d *driver) begin() {
	for len(d.free) > 0 && d.loop.Fits() {
		last := len(d.free) - 1
		w := d.team[d.free[last]]
		var got taking
		switch {
		case d.idle():
			got = d.take(w)
			d.waited = false
		case d.waited:
			return
		default:
			w.now = d.now
			got = d.takeNow(w)
		}
		switch got {
		case some:
			if !d.start(d.free[last], w) {
				return
			}
		case unneeded:
			d.gone++
		case trouble:
			d.waited = true
			return
		case nothingNow:
			return
		}
		d.free = d.free[:last]
	}
}

// start starts an item. It returns false if the run has halted.
func (d *driver) start(number int, w *worker) bool {
	w.begun = time.Now()
	if d.halted.Load() || !d.mayStart(w.begun) && !d.awaitStart() {
		d.release(w, 0, 0)
		return false
	}
	d.loop.Begin(number, w.items[0])
	return true
}

// takeNow takes items without waiting.
func (r *Runner) takeNow(w *worker) taking {
	if !r.mayStart(w.now) {
		return nothingNow
	}
	if !r.seizeTurn() {
		return nothingNow
	}
	defer func() { <-r.turn }()
	for {
		var err error
		switch next := r.plan(w); next.step {
		case leave:
			return unneeded
		case await:
			return nothingNow
		case recall, part:
			return trouble
		case repeat:
			err = r.fetchAgain(w, next.again)
		case proceed:
			err = r.fetch(w, next)
		}
		switch {
		case r.halted.Load():
			return unneeded
		case err != nil:
			return trouble
		case len(w.items) > 0:
			return some
		}
	}
}

// seizeTurn takes the turn unless a worker holds it for long. Other loops hold it for less
// time than waiting would take.
func (r *Runner) seizeTurn() bool {
	const tries, yield = 256, 64
	for try := range tries {
		select {
		case r.turn <- struct{}{}:
			return true
		default:
		}
		if try%yield == yield-1 {
			runtime.Gosched()
		}
	}
	return false
}

// end settles an item that has ended.
func (d *driver) end(ended Ended) {
	w := d.team[ended.Number]
	w.outcomes[0] = ended.Outcome
	if allDone(w.outcomes[:1]) {
		w.finished.Store(1)
	} else {
		d.settle(w, 0, 1)
	}
	d.release(w, 1, d.now.Sub(w.begun))
	d.free = append(d.free, ended.Number)
}
