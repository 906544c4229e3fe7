// Package bulk applies one action to all jobs that match a filter, in the background: it
// retries, cancels, deletes or reprioritizes them, runs them now, or moves them to another
// queue.
//
//	bulks := bulk.NewClient(store)
//	b, err := bulks.Start(ctx, bulk.Bulk{
//		Action: bulk.Retry, Filter: fairlead.Filter{Kinds: []string{"mail.send"}, States: []fairlead.State{fairlead.Failed}},
//	})
//	b, err = bulks.Wait(ctx, b.ID)
//
// Each [Bulk] is carried out by a job with the same ID. The job processes the matching jobs
// once, from the newest to the oldest, in steps. A step is one transaction: it acts on some
// jobs, writes an audit log entry for each job that it changed and a [Miss] for each that
// it did not, and records its position. So each job is processed exactly once, even after
// crashes, and a node that takes over the job continues where the last step ended.
//
// Bulks never change jobs created after them, or jobs that carry out bulks. For every other
// job, the action has the same result as the corresponding call for a single job.
package bulk
