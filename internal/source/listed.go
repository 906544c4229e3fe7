package source

import (
	"context"
	"encoding/json"
	"fmt"
)

// Listed is a source whose items are stored elsewhere as a list and read in parts.
type Listed struct {
	count int64
	read  func(ctx context.Context, from int64) ([]string, error)

	first int64 // index of the first item of some
	some  []string
}

// NewListed returns a source with count items. read returns at least one item, starting at
// index from.
func NewListed(count int64, read func(ctx context.Context, from int64) ([]string, error)) *Listed {
	return &Listed{count: count, read: read}
}

// Bounds returns 0 and the number of items.
func (l *Listed) Bounds(context.Context) (from, to int64, err error) { return 0, l.count, nil }

// Read fills items with the first items of [from, to).
func (l *Listed) Read(ctx context.Context, from, to int64, items []Item) (n int, next int64, err error) {
	to = min(to, l.count)
	for next = max(from, 0); next < to && n < len(items); n++ {
		if next < l.first || next >= l.first+int64(len(l.some)) {
			if n > 0 {
				return n, next, nil // the next call reads the others
			}
			if l.some, err = l.read(ctx, next); err != nil {
				return 0, from, err
			}
			if l.first = next; len(l.some) == 0 {
				return 0, from, fmt.Errorf("the list has no item %d; it has %d items: %w", next, l.count, ErrChanged)
			}
		}
		items[n] = Item{Index: next, Data: []byte(l.some[next-l.first])}
		next++
	}
	return n, next, nil
}

// State returns nil, because Listed has no state.
func (l *Listed) State() (json.RawMessage, error) { return nil, nil }

// Restore does nothing, because Listed has no state.
func (l *Listed) Restore(json.RawMessage) error { return nil }

// Close discards the items held in memory.
func (l *Listed) Close() error {
	l.some = nil
	return nil
}
