package items

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/sweep"
)

// again reads which items of the shard are to be tried again.
func (r *Run) again(ctx context.Context, from int64, most int) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	indexes, err := r.book.Retries(ctx, from, most)
	if err != nil {
		r.handler.options.Logger.Warn("cannot read the items to retry yet", "sweep", r.Sweep.ID, "error", err)
	}
	return indexes, err
}

// failed is failed items as they are stored.
func (r *Run) failed(failures []sweeping.Failure) []sweep.FailedItem {
	items := make([]sweep.FailedItem, len(failures))
	for i, f := range failures {
		items[i] = sweep.FailedItem{Sweep: r.Sweep.ID, Index: f.Index, Attempts: f.Attempts, Error: short(f.Error)}
	}
	return items
}
