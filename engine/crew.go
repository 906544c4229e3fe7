package engine

import "sync"

// crew is a number of slots and the workers that fill them from a queue, first
// in, first out. Workers are hired as they are needed and then kept.
//
// Waking a goroutine costs more than many handlers do, so workers are woken
// one after the other: a worker that takes a run from a queue that holds more wakes
// the next, unless one is already on the way. Quick handlers are thus run by a few
// busy workers, slow ones soon have all of them at work.
type crew struct {
	slots int
	work  func(*run) (keep bool) // false: the worker's slot was given away

	mu      sync.Mutex
	queue   []*run
	parked  []*worker // the one that worked last is woken first
	waking  bool      // a worker is on the way to the queue
	workers int       // that own a slot
	closed  bool

	all sync.WaitGroup // workers, also those that own no slot any more
}

type worker struct {
	wake chan struct{} // capacity 1
}

func newCrew(slots int, work func(*run) bool) *crew { return &crew{slots: slots, work: work} }

// add puts runs into the queue.
func (c *crew) add(runs []*run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, runs...)
	c.wakeOne()
}

// wakeOne calls a worker to the queue if one is needed. c.mu is held.
func (c *crew) wakeOne() {
	switch {
	case len(c.queue) == 0 || c.waking:
	case len(c.parked) > 0:
		last := len(c.parked) - 1
		w := c.parked[last]
		c.parked = c.parked[:last]
		c.waking = true
		w.wake <- struct{}{}
	case c.workers < c.slots:
		c.workers++
		c.waking = true
		c.all.Go(func() { c.serve(&worker{wake: make(chan struct{}, 1)}) })
	}
}

// serve is one worker.
func (c *crew) serve(w *worker) {
	for r := c.take(w, true); r != nil; r = c.take(w, false) {
		if !c.work(r) {
			return
		}
	}
}

// take waits for the next run; nil means that there will be none. called tells
// that the worker comes because it was woken.
func (c *crew) take(w *worker, called bool) *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if called {
			c.waking = false
		}
		if len(c.queue) > 0 {
			r := c.queue[0]
			c.queue[0] = nil
			c.queue = c.queue[1:]
			c.wakeOne()
			return r
		}
		if c.closed {
			return nil
		}
		c.parked = append(c.parked, w)
		c.mu.Unlock()
		<-w.wake
		c.mu.Lock()
		called = true
	}
}

// giveSlotAway lets another worker have the slot of one that will not return.
func (c *crew) giveSlotAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.workers--
	c.wakeOne()
}

// empty takes all runs out of the queue.
func (c *crew) empty() []*run {
	c.mu.Lock()
	defer c.mu.Unlock()
	runs := c.queue
	c.queue = nil
	return runs
}

// queued is how many runs wait for a worker.
func (c *crew) queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// close sends the workers home once the queue is empty.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, w := range c.parked {
		w.wake <- struct{}{}
	}
	c.parked = nil
}
