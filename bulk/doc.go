// Package bulk does the same to all jobs that match a filter, in the background: it retries,
// cancels, deletes or reprioritizes them, runs them now, or moves them to another queue.
//
//	bulks := bulk.NewClient(store)
//	b, err := bulks.Start(ctx, bulk.Bulk{
//		Action: bulk.Retry, Filter: fairlead.Filter{Kinds: []string{"mail.send"}, States: []fairlead.State{fairlead.Failed}},
//	})
//	b, err = bulks.Wait(ctx, b.ID)
//
// A [Bulk] is carried out by a job of its own, whose ID it has. The job goes through the
// matching jobs once, from the newest to the oldest, in steps. A step is one transaction: it
// acts upon some jobs, writes an entry of the audit log for each that it changed and a [Miss]
// for each that it did not, and records how far it has come. So each job is acted upon once,
// whatever crashes, and a node that takes the job over goes on where the last step ended.
//
// Jobs that are made after the bulk are never touched. Jobs that carry out bulks are not
// either; all other jobs answer as they do when they are acted upon one by one.
package bulk
