// Package driver is the node's half of what Fairlead asks of a database: to join, to
// beat, to claim and settle jobs, and to keep house. Users of jobs never need it.
//
// [Store] combines everything that a node needs: the jobs of package fairlead, the
// schedules, batches and sweeps of their packages, and [Worker] and [Keeper] of this
// one. A database that implements it, and passes package storetest, can run everything
// but the service, which also needs access.Store.
package driver
