package server

import (
	"sync"
	"time"
)

const (
	failureMemory = 10_000 // addresses that are remembered

	// What one address may have looked up of its own, and all addresses together.
	// An attacker may have many addresses.
	addressBurst    = 20
	addressEvery    = 5 * time.Second
	everywhereBurst = 200
	everywhereEvery = 50 * time.Millisecond
)

// failures counts unknown tokens, by the address they came from and in all. It
// decides how a token is looked up, never whether: a known token passes however
// many unknown ones came from its address.
type failures struct {
	mu         sync.Mutex
	from       map[string]*budget
	everywhere budget
}

func newFailures() *failures {
	return &failures{from: map[string]*budget{}, everywhere: budget{burst: everywhereBurst, every: everywhereEvery}}
}

// budget is how often something may happen: burst times at once, and once more each
// time that every has passed.
type budget struct {
	burst int
	every time.Duration

	used float64
	at   time.Time // when used was right
}

func (b *budget) refill(now time.Time) {
	b.used = max(0, b.used-now.Sub(b.at).Seconds()/b.every.Seconds())
	b.at = now
}

func (b *budget) left(now time.Time) bool {
	b.refill(now)
	return b.used <= float64(b.burst-1)
}

// full reports whether nothing is used: such a budget need not be remembered.
func (b *budget) full(now time.Time) bool {
	b.refill(now)
	return b.used == 0
}

// spend takes the cost of one look-up that may find nothing. It reports whether the
// address has it left, and whether all addresses together have it too: only then the
// token is to be looked up alone. What is spent on a token that is known after
// all is given back.
func (f *failures) spend(address string) (own, all bool) {
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

// giveBack undoes spend, which returned own and all.
func (f *failures) giveBack(address string, own, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.from[address]; b != nil && own {
		b.used = max(0, b.used-1)
	}
	if all {
		f.everywhere.used = max(0, f.everywhere.used-1)
	}
}

// of is the budget of an address. The caller holds the lock.
func (f *failures) of(address string, now time.Time) *budget {
	b := f.from[address]
	if b == nil {
		f.makeRoom(now)
		b = &budget{burst: addressBurst, every: addressEvery, at: now}
		f.from[address] = b
	}
	return b
}

// makeRoom forgets addresses that have been quiet, and all if that is not enough:
// what all together may do has a bound of its own.
func (f *failures) makeRoom(now time.Time) {
	if len(f.from) < failureMemory {
		return
	}
	for address, b := range f.from {
		if b.full(now) {
			delete(f.from, address)
		}
	}
	if len(f.from) >= failureMemory {
		clear(f.from)
	}
}
