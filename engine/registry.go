package engine

import (
	"sync"

	"github.com/fairlead-io/fairlead/driver"
)

// registry knows every lease this node holds, from the claim to the
// acknowledged settlement, and which of them are active: queued for a slot, or
// with a handler that has not returned.
type registry struct {
	mu     sync.Mutex
	leases map[driver.Held]*run
	active map[*run]struct{}
	idle   []chan struct{} // closed when nothing is active any more
}

func newRegistry() *registry {
	return &registry{leases: map[driver.Held]*run{}, active: map[*run]struct{}{}}
}

// add takes up claimed runs.
func (r *registry) add(runs []*run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range runs {
		r.leases[run.held()] = run
		r.active[run] = struct{}{}
	}
}

// over notes that a run needs no slot any more.
func (r *registry) over(runs ...*run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range runs {
		delete(r.active, run)
	}
	if len(r.active) == 0 {
		for _, c := range r.idle {
			close(c)
		}
		r.idle = nil
	}
}

// forget drops leases that are settled or lost.
func (r *registry) forget(runs []*run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range runs {
		delete(r.leases, run.held())
	}
}

// known is the set of leases right now.
func (r *registry) known() map[driver.Held]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := make(map[driver.Held]bool, len(r.leases))
	for h := range r.leases {
		known[h] = true
	}
	return known
}

// size is the number of active runs.
func (r *registry) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.active)
}

// whenIdle is closed once no run is active.
func (r *registry) whenIdle() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := make(chan struct{})
	if len(r.active) == 0 {
		close(c)
	} else {
		r.idle = append(r.idle, c)
	}
	return c
}

// end ends the context of one run, started or not.
func (r *registry) end(h driver.Held, cause error) {
	r.mu.Lock()
	run := r.leases[h]
	r.mu.Unlock()
	if run != nil {
		run.end(cause)
	}
}

// endAll ends every active run.
func (r *registry) endAll(cause error) {
	for _, run := range r.snapshot() {
		run.end(cause)
	}
}

// snapshot lists the active runs.
func (r *registry) snapshot() []*run {
	r.mu.Lock()
	defer r.mu.Unlock()
	runs := make([]*run, 0, len(r.active))
	for run := range r.active {
		runs = append(runs, run)
	}
	return runs
}
