package sqlstore

import (
	"context"
	"fmt"
)

// Seats limits how many of a store's connections may be used by calls that may have to wait
// for a caller's transaction. Such a transaction may hold the lock of a key, job or schedule
// for a long time. The calls that wait for it must not take the connections that nodes need
// for claims and settlements.
type Seats struct {
	taken chan struct{}
	conns int
}

// NewSeats returns the Seats for a pool of conns connections. Calls that may wait for a
// caller's transaction can use half of the connections, but at least one.
func NewSeats(conns int) *Seats {
	return &Seats{taken: make(chan struct{}, max(1, conns/2)), conns: conns}
}

type mayWait struct{}

// MayWait returns a context for a call that may have to wait for a lock held by a caller's
// transaction.
func MayWait(ctx context.Context) context.Context { return context.WithValue(ctx, mayWait{}, true) }

// Brief reverts MayWait. Calls with the returned context wait only for the store's own short
// transactions.
func Brief(ctx context.Context) context.Context { return context.WithValue(ctx, mayWait{}, false) }

// Take waits for a seat if ctx was returned by MayWait. Calls with the returned context do not
// take a second seat. The caller must call leave to release the seat.
func (s *Seats) Take(ctx context.Context) (inside context.Context, leave func(), err error) {
	if ctx.Value(mayWait{}) != true {
		return ctx, func() {}, nil
	}
	select {
	case s.taken <- struct{}{}:
		return Brief(ctx), func() { <-s.taken }, nil
	case <-ctx.Done():
		return ctx, nil, fmt.Errorf("%d of %d connections are waiting for locks, which is the maximum: a transaction that stored or settled jobs has been open for a long time; commit it or roll it back: %w",
			cap(s.taken), s.conns, Ended(ctx))
	}
}
