// Package driver defines the database operations that a Fairlead node needs: joining,
// heartbeats, claiming and settling jobs, and housekeeping. Programs that only use jobs do
// not need it.
//
// [Store] combines all operations of a node: the jobs of package fairlead, the schedules,
// batches and sweeps of their packages, and [Worker] and [Keeper] of this package. A
// database that implements Store and passes package storetest can run everything except the
// service, which also needs access.Store.
package driver
