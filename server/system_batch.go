package server

import (
	"context"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
)

// lookAtBatches finds open batches, and those that were open in the last check.
func (w *watcher) lookAtBatches(ctx context.Context) error {
	batches, err := w.system.batches.List(ctx, batch.Filter{Open: true})
	if err != nil {
		return err
	}
	open := make(map[int64]batch.State, len(batches))
	for i := range batches {
		open[batches[i].ID] = batches[i].State()
	}
	completed, err := w.completed(ctx, open)
	if err != nil {
		return err
	}
	known := w.open
	w.open = open
	if known == nil {
		return nil
	}
	now, err := w.system.store.Now(ctx)
	if err != nil {
		return err
	}
	for _, batch := range append(batches, completed...) {
		if state, seen := known[batch.ID]; seen && state == batch.State() && batch.EndedAt.IsZero() {
			continue
		}
		if err := w.tell(&fairleadv1.Event{Type: "batch", Change: string(batch.State()), Batch: batchTo(&batch, now)}); err != nil {
			return err
		}
	}
	return nil
}

// completed reads the batches that were open in the last check and no longer are.
func (w *watcher) completed(ctx context.Context, open map[int64]batch.State) ([]batch.Batch, error) {
	var ids []int64
	for id := range w.open {
		if _, still := open[id]; !still {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return w.system.batches.List(ctx, batch.Filter{IDs: ids, Limit: len(ids)})
}
