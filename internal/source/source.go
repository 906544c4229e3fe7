// Package source reads the items of a sweep: plain indexes, the lines of a file
// or URL, the rows of a table.
//
// Items have absolute indexes and can be read from any of them on. A source may
// have to look at everything once to allow that; what it learned is its state,
// small and kept by the caller, so that no run looks twice.
package source

import (
	"context"
	"encoding/json"
	"errors"
)

// ErrChanged is the error of a source whose content is no longer what its state
// describes. Indexes would mean other items, so nothing more is read.
var ErrChanged = errors.New("the source has changed")

// Item is one item.
type Item struct {
	Index int64
	Data  []byte // a line, a row as JSON, or nil if the index is all there is; it belongs to the caller
}

// Source is where items come from. It is not safe for concurrent use: each
// shard has its own, with the same state.
type Source interface {
	// Bounds are the indexes [from, to) in which all items are. It may take long
	// the first time. It fails with ErrChanged.
	Bounds(ctx context.Context) (from, to int64, err error)

	// Read fills items with the first of [from, to), in order, and returns how
	// many there are and the index up to which it has looked: below next there are
	// no others than these. It reads at least one index if there is room for an
	// item. Reading on from next is cheap, reading elsewhere need not be. It fails
	// with ErrChanged; other errors may pass.
	Read(ctx context.Context, from, to int64, items []Item) (n int, next int64, err error)

	// State is what Restore needs in order to read on, also in another process.
	State() (json.RawMessage, error)

	// Restore takes what State returned. An empty state is none.
	Restore(state json.RawMessage) error

	// Close ends what is open.
	Close() error
}

// Sparse is a source in which most indexes may have no item.
type Sparse interface {
	Source

	// Next is the first index of [from, to) that has an item, or to.
	Next(ctx context.Context, from, to int64) (int64, error)
}
