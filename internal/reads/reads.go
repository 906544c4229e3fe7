// Package reads counts what a store reads for an answer. It is for measuring: a
// store that finds a [Meter] in the context of a call asks its database what the
// call's statements have read, which costs more than the statements themselves.
package reads

import (
	"context"
	"sync/atomic"
)

// Meter adds up what was read: rows in PostgreSQL (by the plans' own counts) and in
// MySQL (by the counters of the session), pages in SQLite, which counts nothing else.
type Meter struct {
	read atomic.Int64
}

// Add counts on.
func (m *Meter) Add(n int64) { m.read.Add(n) }

// Read is what was read so far.
func (m *Meter) Read() int64 { return m.read.Load() }

type key struct{}

// With returns a context whose calls are measured.
func With(ctx context.Context) (context.Context, *Meter) {
	meter := &Meter{}
	return context.WithValue(ctx, key{}, meter), meter
}

// Without returns a context whose calls are not measured: what they read is kept, and
// read once.
func Without(ctx context.Context) context.Context {
	if From(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*Meter)(nil))
}

// From returns the meter of a context, nil if its calls are not measured.
func From(ctx context.Context) *Meter {
	meter, _ := ctx.Value(key{}).(*Meter)
	return meter
}
