package sqlstore

import (
	"context"
	"fmt"
)

// Seats limits the share of a store's connections used by calls that may wait for a lock
// held by a caller's transaction: for a key, a job or a schedule. Such a transaction may
// stay open for a long time. Calls that wait for it must not take the connections that
// nodes need to claim and to settle.
type Seats struct {
	taken chan struct{}
	conns int
}

// NewSeats returns the Seats of a pool of conns connections. Calls that wait for callers
// may use half of them, but at least one.
func NewSeats(conns int) *Seats {
	return &Seats{taken: make(chan struct{}, max(1, conns/2)), conns: conns}
}

type mayWait struct{}

// MayWait marks a call that may wait for a lock held by a caller's transaction.
func MayWait(ctx context.Context) context.Context { return context.WithValue(ctx, mayWait{}, true) }

// Brief reverts MayWait: calls with the returned context wait only for the store's own
// short transactions.
func Brief(ctx context.Context) context.Context { return context.WithValue(ctx, mayWait{}, false) }

// Take waits for a seat if the call may wait for a lock. Calls with the returned context
// take no second seat. leave releases the seat.
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
