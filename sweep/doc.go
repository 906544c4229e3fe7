// Package sweep processes very many items at a set rate: a range of numbers, the lines
// of a file, or the keys of a table. Its shards are jobs; for the items only progress
// is stored.
//
//	items.Handle(mux, store, "thumbnail", items.Options{},
//		func(ctx context.Context, item items.Item[Catalog]) error { return render(ctx, item.Index) })
//
//	sweeps := sweep.NewClient(store)
//	s, err := sweeps.Put(ctx, sweep.Sweep{Name: "catalog", Kind: "thumbnail", To: 40_000_000, InFlight: 64, Rate: 500})
//	s, err = sweeps.Start(ctx, s.ID, "me")
//	s, err = sweeps.Wait(ctx, s.ID)
//
// After a crash a shard continues from its last checkpoint, about a second back: an
// item may be handled twice, and none is left out. Package sweep/items handles items;
// this package defines sweeps, steers them and shares their rate among shards.
package sweep
