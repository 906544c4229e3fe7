// Package items handles the items of sweeps.
//
//	items.Handle(mux, store, "thumbnail", items.Options{},
//		func(ctx context.Context, item items.Item[Catalog]) error { return render(ctx, item.Index) })
//
// Handle registers a function to call with every item. Create and start the sweep itself
// through sweep.Client, the API or the command line; its shards are jobs, which any node
// with the handler can run. A run stores the progress of its shard about once a second.
// After a crash another node continues from there: no item is skipped, but an item may
// be handled more than once.
package items
