// Package items handles the items of sweeps.
//
// Handle registers a function that is called with every item. The sweep itself is
// created and started through sweep.Client, the API or the command line; its
// shards are jobs, which any node that has the handler may run. How far a shard has
// come is stored about once a second: after a crash another node goes on from there,
// so that an item may be handled more than once, and none is left out.
package items
