// Package paged bounds the pages of a list by their bytes as well as by their rows. A
// store that finds a [Bound] in the context of a call ends the page with the row that
// fills it, so that a few large documents do not take all the memory of a node.
package paged

import (
	"context"
	"errors"
)

// ErrFull ends a statement whose page is as large as it may be. It never leaves a store.
var ErrFull = errors.New("the page is full")

// Bound is how many bytes of documents a page may have. A page has at least one row, so
// the last one may exceed it.
type Bound struct {
	limit, read int
	cut         bool
}

type key struct{}

// Within returns a context in which a list is bounded to some bytes. It is for one call.
func Within(ctx context.Context, bytes int) (context.Context, *Bound) {
	bound := &Bound{limit: bytes}
	return context.WithValue(ctx, key{}, bound), bound
}

// Unbounded returns a context whose calls read all that they are asked for.
func Unbounded(ctx context.Context) context.Context {
	if From(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*Bound)(nil))
}

// From returns the bound of a context, nil if there is none.
func From(ctx context.Context) *Bound {
	bound, _ := ctx.Value(key{}).(*Bound)
	return bound
}

// Begin forgets what was read: a statement begins anew.
func (b *Bound) Begin() {
	if b != nil {
		b.read, b.cut = 0, false
	}
}

// Add counts the documents of a row, and reports whether the page is full.
func (b *Bound) Add(bytes int) bool {
	if b == nil {
		return false
	}
	b.read += bytes
	b.cut = b.read >= b.limit
	return b.cut
}

// Cut reports whether the page ended because of its bytes, so that rows may follow.
func (b *Bound) Cut() bool { return b != nil && b.cut }
