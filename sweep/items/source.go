package items

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/descriptors"
	"github.com/fairlead-io/fairlead/internal/source"
)

// open opens where the items come from, and finds out how many there are if that is
// not known yet.
func (r *Run) open(ctx context.Context) (source.Source, error) {
	items, err := r.from()
	if err != nil {
		return nil, &refusal{err}
	}
	if err := r.count(ctx, items); err != nil {
		return nil, errors.Join(err, items.Close())
	}
	return items, nil
}

func (r *Run) from() (source.Source, error) {
	from, options := r.Sweep.Source, r.handler.options
	lines := source.Options{Roots: options.Roots, Client: options.Client, Save: r.keepState}
	switch {
	case from.File != "":
		return source.File(from.File, lines)
	case from.URL != "":
		return source.URL(from.URL, lines)
	case from.Table != nil:
		db, known := options.Databases[from.Table.Database]
		if !known {
			return nil, fmt.Errorf("database %q is not configured on this node; configure it, or use a different database", from.Table.Database)
		}
		return source.OpenTable(db.Querier, source.TableOptions{Dialect: db.Dialect, Database: from.Table.Database, Table: from.Table.Name, Key: from.Table.Key, Columns: from.Table.Columns})
	}
	if from.Listed > 0 {
		return source.NewListed(from.Listed, r.book.Items), nil
	}
	return source.Indexes{From: r.shard.From, To: r.shard.To}, nil
}

// keepState stores what the source has learned so far. An order to stop reaches the run
// here too, as counting may take long.
func (r *Run) keepState(ctx context.Context, state json.RawMessage) error {
	c := r.checkpoint()
	c.Source = state
	orders, err := r.store(ctx, c)
	if err == nil && orders.Stop {
		return errOrdered
	}
	return err
}

// count lets the source learn what it needs to know.
func (r *Run) count(ctx context.Context, items source.Source) error {
	if err := items.Restore(r.shard.Source); err != nil {
		return &refusal{err}
	}
	if _, plain := items.(source.Indexes); plain {
		return nil
	}
	from, to, err := items.Bounds(ctx)
	switch {
	case errors.Is(err, errOrdered), errors.Is(err, fairlead.ErrLeaseLost), errors.Is(err, fairlead.ErrUnavailable), descriptors.Exhausted(err), err != nil && ctx.Err() != nil:
		return err // the source is not to blame
	case err != nil:
		return &refusal{fmt.Errorf("the source: %w", err)}
	}
	if r.shard.To == 0 {
		r.shard.To = max(to, r.shard.From)
		if r.shard.Mark == r.shard.From && r.Sweep.Source.Table != nil && from > r.shard.Mark {
			r.shard.Mark = min(from, r.shard.To) // there is nothing before the first key
		}
	}
	state, err := items.State()
	if err != nil {
		return err
	}
	return r.keepState(ctx, state)
}
