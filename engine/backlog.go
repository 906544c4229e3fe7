package engine

import (
	"context"
	"sync"

	"github.com/fairlead-io/fairlead"
)

// backlog counts the ended runs that wait for transactions of callers, by the kind of
// their jobs.
type backlog struct {
	life  *life
	bound int // how many runs may wait before no more of their kinds are claimed

	mu    sync.Mutex
	kinds map[string]int // ends that the store has not acknowledged
	total int            // all of them
}

func newBacklog(l *life) *backlog {
	bound := l.options.totalSlots() + l.options.QueueSize
	if l.options.SlotsOnly {
		// What leases the jobs counts those that are not settled against slots and
		// QueueSize: half of it stays for the other kinds.
		bound = max(1, l.options.QueueSize/2)
	}
	return &backlog{life: l, bound: bound, kinds: map[string]int{}}
}

// add counts runs that wait from now on.
func (b *backlog) add(batch ...ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total += len(batch)
	for _, e := range batch {
		b.kinds[e.run.job.Kind]++
	}
}

// size returns how many runs wait.
func (b *backlog) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// crowded returns the kinds of which no more may be claimed: memory is bounded, and what
// callers hold stops the kinds that wait for it, not the node.
func (b *backlog) crowded() (kinds []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total < b.bound {
		return nil
	}
	for kind := range b.kinds {
		kinds = append(kinds, kind)
	}
	return kinds
}

// over forgets runs, and lets their kinds be claimed again if they were not.
func (b *backlog) over(batch []ending) {
	b.mu.Lock()
	crowded := b.total >= b.bound
	b.total -= len(batch)
	crowded = crowded && b.total < b.bound
	for _, e := range batch {
		kind := e.run.job.Kind
		if b.kinds[kind]--; b.kinds[kind] == 0 {
			delete(b.kinds, kind)
		}
	}
	b.mu.Unlock()
	b.life.over(batch)
	if crowded {
		for _, g := range b.life.groups {
			g.wakeSoon()
		}
	}
}

// drop gives up runs whose leases are lost.
func (b *backlog) drop(batch []ending) {
	if len(batch) > 0 {
		b.life.log.Warn("settlements dropped: their leases are lost", "jobs", len(batch))
		b.over(batch)
	}
}

// release gives back runs that could not be written until the node has to end: others can
// run those jobs at once, and the node did not crash.
func (b *backlog) release(ctx context.Context, left []ending) {
	if len(left) == 0 || !b.life.lease.valid() {
		b.drop(left)
		return
	}
	settlements := make([]fairlead.Settlement, len(left))
	for i, e := range left {
		settlements[i] = fairlead.Settlement{ID: e.settlement.ID, Fence: e.settlement.Fence, Move: fairlead.MoveRelease, Progress: e.settlement.Progress}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.life.options.Beat)
	defer cancel()
	settled, err := b.life.store.Settle(ctx, settlements)
	if err != nil {
		b.life.log.Warn("cannot release runs: open transactions hold their jobs or their successors' keys", "jobs", len(left), "error", err)
		b.over(left)
		return
	}
	released, _, held := partHeld(left, settled)
	if len(released) > 0 {
		b.life.log.Warn("runs released to run again: open transactions held their jobs or their successors' keys", "jobs", len(released))
	}
	for _, e := range held {
		b.life.logOf(e.run.job).Warn("cannot release run: an open transaction holds the job; another node takes the job back after the transaction ends")
	}
	b.over(left)
}
