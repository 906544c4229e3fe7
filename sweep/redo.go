package sweep

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// again reads which items of the shard are to be tried again.
func (r *Run) again(ctx context.Context, from int64, most int) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	items, err := r.handler.store.FailedItems(ctx, fairlead.ItemFilter{
		Sweep: r.Sweep.ID, From: true, After: from - 1, Below: r.shard.To, Again: true, Limit: most,
	})
	if err != nil {
		r.handler.options.Logger.Warn("which items are to be tried again is not known yet", "sweep", r.Sweep.ID, "error", err)
		return nil, err
	}
	indexes := make([]int64, len(items))
	for i := range items {
		indexes[i] = items[i].Index
	}
	return indexes, nil
}

// failed is items that came to nothing as they are stored.
func (r *Run) failed(failures []sweeping.Failure) []fairlead.FailedItem {
	items := make([]fairlead.FailedItem, len(failures))
	for i, f := range failures {
		items[i] = fairlead.FailedItem{Sweep: r.Sweep.ID, Index: f.Index, Attempts: f.Attempts, Error: short(f.Error)}
	}
	return items
}
