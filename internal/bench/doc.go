// Package bench measures schedulers: how fast they store and run jobs, and what
// each job costs in CPU time of the client, CPU time of the database server and
// bytes of its log.
//
// A workload is a method of [Bench] and knows a scheduler only as a
// [Scheduler], so that ours and others do exactly the same work:
//
//	enqueue    store jobs, in batches or one by one from many callers
//	drain      run a backlog
//	sustained  store and run at the same time
//	latency    from the call of Enqueue to the start of the handler, on an idle node
//	longtx     drain or sustained beside a transaction that stays open
//
// What only ours has is measured by types of their own: [Tenancy] what limits
// cost, [Schedules] how punctual schedules are and what many of them cost, [Rest] a
// service. What lists read is measured by package lists. A cluster that is too large to be
// measured is simulated by package scale.
//
// Cost is the figure to compare by: the rate depends on what else the machine
// does and on how fast its disk syncs, the CPU time per job hardly does.
package bench
