// Package sweep processes very many items at a set rate: a range of numbers, the lines
// of a file, or the keys of a table. The shards of a sweep are jobs; its items are not
// stored, only their progress.
//
//	items.Handle(mux, store, "thumbnail", items.Options{},
//		func(ctx context.Context, item items.Item[Catalog]) error { return render(ctx, item.Index) })
//
//	sweeps := sweep.NewClient(store)
//	s, err := sweeps.Put(ctx, sweep.Sweep{Name: "catalog", Kind: "thumbnail", To: 40_000_000, InFlight: 64, Rate: 500})
//	s, err = sweeps.Start(ctx, s.ID, "me")
//	s, err = sweeps.Wait(ctx, s.ID)
//
// After a crash a shard continues from its last checkpoint, which is about a second old:
// no item is skipped, but one may be handled twice, so handlers must be idempotent.
// Package sweep/items handles items; this package defines sweeps, steers them and shares
// their rate among shards.
package sweep
