package source

import (
	"context"
	"encoding/json"
	"fmt"
)

// Indexes is a source without data. Its items are the indexes in [From, To).
type Indexes struct{ From, To int64 }

// Bounds returns From and To.
func (r Indexes) Bounds(context.Context) (from, to int64, err error) {
	if r.From > r.To {
		return 0, 0, fmt.Errorf("source: from (%d) must not be greater than to (%d)", r.From, r.To)
	}
	return r.From, r.To, nil
}

// Read fills items with the first indexes of [from, to). The items have no data.
func (r Indexes) Read(_ context.Context, from, to int64, items []Item) (n int, next int64, err error) {
	from, to = max(from, r.From), min(to, r.To)
	for n < len(items) && from < to {
		items[n] = Item{Index: from}
		n++
		from++
	}
	return n, from, nil
}

// State returns nil, because Indexes has no state.
func (r Indexes) State() (json.RawMessage, error) { return nil, nil }

// Restore does nothing, because Indexes has no state.
func (r Indexes) Restore(json.RawMessage) error { return nil }

// Close does nothing.
func (r Indexes) Close() error { return nil }
