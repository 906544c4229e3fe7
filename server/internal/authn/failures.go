package authn

import (
	"sync"
	"time"
)

const (
	MaxAddresses = 10_000 // maximum number of remembered addresses

	// Limits for looking up tokens individually, for one address and for all addresses
	// together. An attacker may have many addresses.
	addressBurst    = 20
	addressEvery    = 5 * time.Second
	everywhereBurst = 200
	everywhereEvery = 50 * time.Millisecond
)

// Failures counts unknown tokens by source address and in total. The counts determine how a
// token is looked up, but not whether: a known token is accepted no matter how many unknown
// ones came from its address.
type Failures struct {
	mu         sync.Mutex
	from       map[string]*budget
	everywhere budget
}

// NewFailures returns counts of zero.
func NewFailures() *Failures {
	return &Failures{from: map[string]*budget{}, everywhere: budget{burst: everywhereBurst, every: everywhereEvery}}
}

// budget is a rate limit: burst events at once, and one more after each period of length
// every.
type budget struct {
	burst int
	every time.Duration

	used float64
	at   time.Time // time for which used is correct
}

func (b *budget) refill(now time.Time) {
	b.used = max(0, b.used-now.Sub(b.at).Seconds()/b.every.Seconds())
	b.at = now
}

func (b *budget) left(now time.Time) bool {
	b.refill(now)
	return b.used <= float64(b.burst-1)
}

// full reports whether the budget is unused: such a budget can be forgotten.
func (b *budget) full(now time.Time) bool {
	b.refill(now)
	return b.used == 0
}

// Spend takes the cost of one lookup from the budgets. It reports whether the address has
// enough budget, and whether the total budget suffices too: only then may the token be
// looked up individually. giveBack returns the cost if the token turns out to be known.
func (f *Failures) Spend(address string) (own, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	b := f.of(address, now)
	own = b.left(now)
	all = own && f.everywhere.left(now)
	if own {
		b.used++
	}
	if all {
		f.everywhere.used++
	}
	return own, all
}

// giveBack reverses a call to spend that returned own and all.
func (f *Failures) giveBack(address string, own, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.from[address]; b != nil && own {
		b.used = max(0, b.used-1)
	}
	if all {
		f.everywhere.used = max(0, f.everywhere.used-1)
	}
}

// of returns the budget of an address. The caller must hold the lock.
func (f *Failures) of(address string, now time.Time) *budget {
	b := f.from[address]
	if b == nil {
		f.makeRoom(now)
		b = &budget{burst: addressBurst, every: addressEvery, at: now}
		f.from[address] = b
	}
	return b
}

// makeRoom forgets addresses with a full budget, and if that is not enough, all addresses:
// the total has a limit of its own.
func (f *Failures) makeRoom(now time.Time) {
	if len(f.from) < MaxAddresses {
		return
	}
	for address, b := range f.from {
		if b.full(now) {
			delete(f.from, address)
		}
	}
	if len(f.from) >= MaxAddresses {
		clear(f.from)
	}
}
