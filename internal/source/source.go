// Package source reads the items of a sweep: plain indexes, the lines of a file or URL, or
// the rows of a table.
//
// Items have absolute indexes, and reading can start at any of them. A source may need to
// scan all its content once to allow that. The result is its state, which is small and
// stored by the caller, so that later runs need not scan again.
package source

import (
	"context"
	"encoding/json"
	"errors"
)

// ErrChanged is returned by a source whose content no longer matches its state. Its indexes
// would refer to different items, so the source stops reading.
var ErrChanged = errors.New("the source has changed")

// Item is one item of a source.
type Item struct {
	Index int64
	Data  []byte // a line, a row as JSON, or nil if the item has only an index; owned by the caller
}

// Source provides a sweep's items. It is not safe for concurrent use: each shard has its own
// Source, and all these Sources have the same state.
type Source interface {
	// Bounds returns the range of indexes [from, to) that contains all items. The first
	// call may take a long time. It returns ErrChanged if the content has changed.
	Bounds(ctx context.Context) (from, to int64, err error)

	// Read fills items with the first items of [from, to), in order. It returns their
	// number and the index up to which it has read: the range from from to next contains no
	// other items. It reads at least one index if there is room for an item. Continuing at
	// next is cheap; reading elsewhere may be expensive. It returns ErrChanged if the
	// content has changed; other errors may be transient.
	Read(ctx context.Context, from, to int64, items []Item) (n int, next int64, err error)

	// State returns the data that Restore needs to continue reading, possibly in another
	// process.
	State() (json.RawMessage, error)

	// Restore sets the state returned by State. An empty state means none.
	Restore(state json.RawMessage) error

	// Close releases open resources.
	Close() error
}

// Sparse is a source in which many indexes may have no item.
type Sparse interface {
	Source

	// Next returns the first index of [from, to) with an item, or to if there is none.
	Next(ctx context.Context, from, to int64) (int64, error)
}
