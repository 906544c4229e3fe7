// Package batch applies one operation to many targets, at a set pace, with a canary and
// with rollback. Each task is a job.
//
//	batch.Handle(mux, batch.Operation{
//		TargetType: "host",
//		BatchType:  "upgrade",
//		BuildParam: currentVersion, // returns the value that a rollback restores
//		Process:    install,
//	})
//
//	batches := batch.NewClient(store)
//	b, err := batches.Start(ctx, batch.Batch{Name: "openssl", Type: "upgrade"}, changes...)
//	b, err = batches.Wait(ctx, b.ID)
//	b, err = batches.RollBack(ctx, b.ID, batch.RollBack{})
//
// A batch counts every task exactly once, even if nodes crash, and completes in a single
// change of state. Failed tasks can be retried, and a rollback can be resumed.
//
// A program defines an [Operation] for its targets. To implement a store, start with
// [Store], which stores each batch as a [Record] with its internal [Ledger].
package batch
