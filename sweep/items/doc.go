// Package items handles the items of sweeps.
//
// Handle registers a function that is called with every item. Create and start the
// sweep itself through sweep.Client, the API or the command line; its shards are jobs,
// which any node with the handler can run. The progress of a shard is stored about once
// a second. After a crash another node continues from there, so that an item may be
// handled more than once, and none is left out.
package items
