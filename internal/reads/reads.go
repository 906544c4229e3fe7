// Package reads counts the rows or pages that a store reads for a call. It is for
// measurements: a store that finds a [Meter] in the context of a call asks its database
// what the call's statements have read, which costs more than the statements themselves.
package reads

import (
	"context"
	"sync/atomic"
)

// Meter counts reads: rows in PostgreSQL (from query plans) and MySQL (from session
// counters), and pages in SQLite, which reports nothing else.
type Meter struct {
	read atomic.Int64
}

// Add adds n to the count.
func (m *Meter) Add(n int64) { m.read.Add(n) }

// Read returns the count so far.
func (m *Meter) Read() int64 { return m.read.Load() }

type key struct{}

// With returns a context that measures the calls made with it, and the meter that counts
// their reads.
func With(ctx context.Context) (context.Context, *Meter) {
	meter := &Meter{}
	return context.WithValue(ctx, key{}, meter), meter
}

// Without returns a context that does not measure the calls made with it. It is meant for
// data that is read once and then cached.
func Without(ctx context.Context) context.Context {
	if From(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*Meter)(nil))
}

// From returns the meter in ctx. It returns nil if calls with ctx are not measured.
func From(ctx context.Context) *Meter {
	meter, _ := ctx.Value(key{}).(*Meter)
	return meter
}
