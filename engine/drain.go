package engine

import "sync"

// A node starts nothing more while it is asked so: in its process by Pause, or by
// an operator through the store, which the node hears of with its beats. Neither
// undoes the other.

// halted reports whether the node is to claim nothing.
func (e *Engine) halted() bool { return e.paused.Load() || e.drained.Load() }

// heed does what the store says about draining: what runs goes on, what has not
// started is given back, and when it is undone the node goes on claiming.
func (l *life) heed(drain bool) {
	if l.engine.drained.Swap(drain) == drain {
		return
	}
	if !drain {
		l.departure.undo()
		l.log.Info("draining ended on request")
		l.wakeGroups()
		return
	}
	l.log.Info("draining on request", "running", l.registry.size())
	l.departure.begin()
	for _, g := range l.groups {
		g.giveBackQueued()
	}
}

// departure tells handlers without an end of their own that the node wants to have
// nothing more to do.
type departure struct {
	mu   sync.Mutex
	told chan struct{} // closed when they are asked to end
	gone bool
	own  map[*farewell]struct{} // of those that can be asked alone
}

// farewell tells one handler alone.
type farewell struct {
	once sync.Once
	told chan struct{}
}

func (f *farewell) tell() { f.once.Do(func() { close(f.told) }) }

func newDeparture() *departure {
	return &departure{told: make(chan struct{}), own: map[*farewell]struct{}{}}
}

func (d *departure) begun() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.told
}

// alone is for a handler that may be asked to end before the others. It is to be forgotten
// when the handler has ended.
func (d *departure) alone() *farewell {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &farewell{told: make(chan struct{})}
	d.own[f] = struct{}{}
	if d.gone {
		f.tell()
	}
	return f
}

func (d *departure) forget(f *farewell) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.own, f)
}

func (d *departure) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone {
		return
	}
	d.gone = true
	close(d.told)
	for f := range d.own {
		f.tell()
	}
}

// undo is for handlers that begin from now on.
func (d *departure) undo() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone {
		d.gone, d.told = false, make(chan struct{})
	}
}
