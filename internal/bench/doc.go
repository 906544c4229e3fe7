// Package bench measures schedulers: how fast they store and run jobs, and what each job
// costs in CPU time of the client, CPU time of the database server and bytes of its log.
//
// A workload is a method of [Bench] and uses a scheduler only through [Scheduler], so that
// Fairlead and other schedulers do exactly the same work:
//
//	enqueue    store jobs, in batches or one by one from many callers
//	drain      run a backlog
//	sustained  store and run at the same time
//	latency    from the call of Enqueue to the start of the handler, on an idle node
//	longtx     drain or sustained next to a transaction that stays open
//
// Separate types measure features that only Fairlead has: [Tenancy] the cost of limits,
// [Schedules] the punctuality and cost of schedules, [Rest] a service. Package lists
// measures the reads of lists. Package scale simulates clusters that are too large to be
// measured.
//
// Compare schedulers by cost: rates depend on other load on the machine and on the speed of
// its disk, while the CPU time per job hardly does.
package bench
