// Package demo provides sample data: three tenants with schedules, a batch, a sweep and a
// steady flow of jobs, some of which fail, wait or are late.
//
//	d := demo.New(store, demo.Options{})
//	err := d.Check(ctx)          // fails if a name is in use
//	d.Register(mux, items)       // handlers of its jobs
//	err = d.Declare(ctx)         // tenants, calendar, schedules, sweep
//	d.Run(ctx)                   // creates jobs until ctx ends
//	err = demo.Clear(ctx, store, report)
//
// All objects belong to the tenants of [Tenants], which have the label demo=true: the label
// identifies the demo when it is deleted. Any number of nodes may run the demo on one
// database: jobs have keys derived from the database's clock, and a job starts the batch,
// so that nothing is created twice.
package demo
