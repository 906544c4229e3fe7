// Package demo is something to look at: three tenants with schedules, a batch, a sweep and
// a steady flow of jobs, some of which fail, wait or are late.
//
//	d := demo.New(store, demo.Options{})
//	err := d.Check(ctx)          // refuses if a name is taken
//	d.Register(mux, items)       // what its jobs do
//	err = d.Declare(ctx)         // tenants, calendar, schedules, sweep
//	d.Run(ctx)                   // makes jobs until ctx ends
//	err = demo.Clear(ctx, store, report)
//
// All of it belongs to the tenants of [Tenants], which carry the label demo=true: by that it
// is recognised, and removed. Any number of nodes may run it on one database: jobs have
// keys that follow from the database's clock, and a batch is begun by a job, so that nothing
// is made twice.
package demo
