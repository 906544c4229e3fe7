// Package paged limits the pages of a list by bytes as well as by rows. A store that finds
// a [Bound] in the context of a call ends the page with the row that fills it, so that a
// few large documents cannot use all the memory of a node.
package paged

import (
	"context"
	"errors"
)

// ErrFull ends a statement when its page has reached the maximum size. Stores never return it.
var ErrFull = errors.New("the page is full")

// Bound limits the document bytes in a page. A page has at least one row, and its last row may
// exceed the limit.
type Bound struct {
	limit, read int
	cut         bool
}

type key struct{}

// Within returns a context that limits the list of one call to the given number of document
// bytes, and the Bound that counts them.
func Within(ctx context.Context, bytes int) (context.Context, *Bound) {
	bound := &Bound{limit: bytes}
	return context.WithValue(ctx, key{}, bound), bound
}

// Unbounded returns a context in which the size of lists is unlimited.
func Unbounded(ctx context.Context) context.Context {
	if From(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*Bound)(nil))
}

// From returns the context's Bound, or nil if the context has none.
func From(ctx context.Context) *Bound {
	bound, _ := ctx.Value(key{}).(*Bound)
	return bound
}

// Begin resets the count. It is called when a statement starts over.
func (b *Bound) Begin() {
	if b != nil {
		b.read, b.cut = 0, false
	}
}

// Add counts a row's document bytes and reports whether the page is full.
func (b *Bound) Add(bytes int) bool {
	if b == nil {
		return false
	}
	b.read += bytes
	b.cut = b.read >= b.limit
	return b.cut
}

// Cut reports whether the page ended because it was full. More rows may then follow.
func (b *Bound) Cut() bool { return b != nil && b.cut }
