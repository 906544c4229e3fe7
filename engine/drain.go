package engine

// A node starts nothing more while it was told so: in its process by Pause, or by
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
		l.log.Info("the node may start jobs again")
		l.wakeGroups()
		return
	}
	l.log.Info("the node was asked to start nothing more", "running", l.registry.size())
	for _, g := range l.groups {
		g.giveBackQueued()
	}
}
