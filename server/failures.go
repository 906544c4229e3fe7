package server

import (
	"sync"
	"time"
)

const (
	failureBurst  = 20              // unknown tokens that an address may send at once
	failureEvery  = 5 * time.Second // and one more each time this has passed
	failureMemory = 10_000          // addresses that are remembered
	failureForget = failureBurst * failureEvery
)

// failures counts unknown tokens by the address they came from, so that guessing
// costs the database nothing. Who has a token that is known is never held up.
type failures struct {
	mu   sync.Mutex
	from map[string]*failing
}

type failing struct {
	count float64 // falls by one every failureEvery
	at    time.Time
}

func newFailures() *failures { return &failures{from: map[string]*failing{}} }

func (f *failing) fall(now time.Time) {
	f.count = max(0, f.count-now.Sub(f.at).Seconds()/failureEvery.Seconds())
	f.at = now
}

// allowed tells whether an unknown token from an address is to be looked up.
func (f *failures) allowed(address string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.from[address]
	if known == nil {
		return true
	}
	known.fall(time.Now())
	return known.count < failureBurst
}

// note counts an unknown token.
func (f *failures) note(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	known := f.from[address]
	if known == nil {
		f.makeRoom(now)
		known = &failing{at: now}
		f.from[address] = known
	}
	known.fall(now)
	known.count++
}

// makeRoom forgets addresses that have been quiet, and all if that is not enough.
func (f *failures) makeRoom(now time.Time) {
	if len(f.from) < failureMemory {
		return
	}
	for address, known := range f.from {
		if now.Sub(known.at) > failureForget {
			delete(f.from, address)
		}
	}
	if len(f.from) >= failureMemory {
		clear(f.from)
	}
}
