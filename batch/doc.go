// Package batch does one operation to many targets: step by step, at a pace, with a canary,
// and back again. Each task is a job.
//
//	batch.Handle(mux, batch.Operation{
//		TargetType: "host", BatchType: "upgrade",
//		BuildParam: currentVersion, // what a rollback puts back
//		Process:    install,
//	})
//	batches := batch.NewClient(store)
//	b, err := batches.Start(ctx, batch.Batch{Name: "openssl", Type: "upgrade"}, changes...)
//	b, err = batches.Wait(ctx, b.ID)
//	b, err = batches.RollBack(ctx, b.ID, batch.RollBack{})
//
// A batch counts every task once, whatever crashes meanwhile, and completes in one change
// of state. Failed tasks can be retried, a rollback can be resumed. [Operation] is what a
// program says of its targets. Writers of stores read [Store], which keeps each batch as a
// [Record]: with the [Ledger] that users do not see.
package batch
