package engine

import "sync"

// claimGate lets claims pass together and the audit alone. A claim may take as long as the
// store does. Waiting for it is waiting on a channel, because in virtual time
// (testing/synctest) the clock stands still while a goroutine waits for a mutex.
type claimGate struct {
	entry   chan struct{} // capacity 1: filled by a claim that enters, and by the audit until it ends
	bounded chan struct{} // capacity 1: filled by a claim that excludes other bounded ones

	mu     sync.Mutex
	inside int           // claims that have entered
	empty  chan struct{} // closed when none is inside; nil if the audit does not wait
}

func newClaimGate() *claimGate {
	return &claimGate{entry: make(chan struct{}, 1), bounded: make(chan struct{}, 1)}
}

// enter waits while the audit looks, and if bounded, while another bounded claim is inside.
// The claim calls leave when it has ended.
func (g *claimGate) enter(bounded bool) (leave func()) {
	g.entry <- struct{}{}
	g.mu.Lock()
	g.inside++
	g.mu.Unlock()
	<-g.entry
	if bounded {
		g.bounded <- struct{}{}
	}
	return func() {
		if bounded {
			<-g.bounded
		}
		g.leave()
	}
}

func (g *claimGate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// exclude waits until no claim is inside. None enters before release is called.
func (g *claimGate) exclude() (release func()) {
	g.entry <- struct{}{}
	if empty := g.whenEmpty(); empty != nil {
		<-empty
	}
	return func() { <-g.entry }
}

// whenEmpty returns a channel that is closed when the last claim leaves, or nil if none is
// inside.
func (g *claimGate) whenEmpty() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside > 0 {
		g.empty = make(chan struct{})
	}
	return g.empty
}
