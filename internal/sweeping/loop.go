package sweeping

import (
	"context"
	"runtime"
	"time"

	"github.com/fairlead-io/fairlead/internal/pace"
)

// Loop tries many items at once on one goroutine, for handlers that do little but wait:
// a goroutine for each costs more than what they do.
type Loop interface {
	// Begin begins to try an item, under a number.
	Begin(number int, item Item)
	// Wait waits until items have ended, at most for so long. What it returns is good
	// until it is called again.
	Wait(most time.Duration) []Ended
	// Fits reports whether goroutines would not do better.
	Fits() bool
	// Close is called once nothing is under way.
	Close()
}

// Ended is an item whose try has ended.
type Ended struct {
	Number  int
	Outcome Outcome
}

// NewLoop makes a loop, whose items end with the context. It may return nil.
type NewLoop func(ctx context.Context) Loop

const (
	leastLoop = 8                      // items at once that are worth a loop
	perLoop   = 32                     // those that are worth another
	loopLook  = 5 * time.Millisecond   // how often a loop looks for more to do if there was nothing
	loopPause = 100 * time.Millisecond // how long it waits at most
)

// looping reports whether loops are to be used. A worker that waits for a rate would keep a
// loop from what has ended, so once there is a rate there are no more loops.
func (r *Runner) looping() bool {
	r.alone = r.alone || r.shard.Loop == nil || r.shard.Serial || r.shard.Batch > 1 || r.shard.Adaptive != nil || r.pace.Rate() != pace.Unlimited
	return !r.alone
}

// employLoops lets loops do the work of some workers.
func (r *Runner) employLoops(crew []*worker) {
	teams := max(1, min(len(crew)/perLoop, runtime.GOMAXPROCS(0)))
	for i := range teams {
		team := crew[i*len(crew)/teams : (i+1)*len(crew)/teams]
		r.workers.Go(func() { r.drive(team) })
	}
}

// drive does the work of a team with a loop. Where there is none, or none any more,
// each of the team gets a goroutine.
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

// driver is a loop and whose work it does.
type driver struct {
	*Runner
	loop   Loop
	team   []*worker
	free   []int // of the team: who has nothing to do
	gone   int   // of the team: they are not needed
	waited bool  // the next items are taken when nothing is under way
	now    time.Time
}

// remaining is who of the team has not gone.
func (d *driver) remaining() []*worker {
	var remaining []*worker
	for _, number := range d.free {
		remaining = append(remaining, d.team[number])
	}
	return remaining
}

// run returns once nothing is under way and nothing is to be begun.
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

// idle reports whether nothing is under way.
func (d *driver) idle() bool { return len(d.free)+d.gone == len(d.team) }

// begin gives items to those who have nothing to do, as far as there are some.
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

// start begins an item. It returns false if the run has halted.
func (d *driver) start(number int, w *worker) bool {
	w.begun = time.Now()
	if d.halted.Load() || !d.mayStart(w.begun) && !d.awaitStart() {
		d.release(w, 0, 0)
		return false
	}
	d.loop.Begin(number, w.items[0])
	return true
}

// takeNow is take without waiting.
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

// seizeTurn takes the turn if no worker has it for long. Other loops have it for less than
// it takes to wait.
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
