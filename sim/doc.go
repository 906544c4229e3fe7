// Package sim crashes nodes and checks that no work was lost.
//
// A scenario runs several nodes as separate processes on one database, and a driver that
// kills them (SIGKILL) and suspends them (SIGSTOP) while they work. Each process writes a
// history to a file of its own, one line per event, each line in one write to the file. So
// the history is complete even if the process dies. A node records each request to the
// database before it sends it, and each answer after it arrives. So everything that
// happened in the database was at least announced in a history.
//
// Afterwards Check compares the histories and the final contents of the database with a set
// of rules, offline and independently of the engine and the store:
//
//	nothing lost      every job ended once, as planned, with an end that a handler reached; acknowledged writes are kept
//	fences grow       every claim of a job has a larger fence than those before, and every handler runs under a claim
//	one live lease    when a job was claimed, the previous lease had been settled, given up, or had expired by its node's heartbeats
//	zombies refused   no settlement or progress counts that was sent after a later claim
//	live accepted     no settlement or progress is refused while the lease of the node holds
//	recovery          jobs of a killed or suspended node were claimed again, or had ended, soon after, measured in heartbeats of a node that could act
//	patient reapers   only a node with successful heartbeats for a whole lease marked others as dead, or a node whose process was not trusted for three leases
//	never early       no job was claimed before it was due, or before the delay after its last failure had passed
//	one place         every snapshot of the database had every job exactly once
//	caps kept         the number of running jobs, of a tenant or in total, never exceeded the cap
//	gates kept        the number of jobs with a slot at a gate never exceeded the number of slots, including jobs that back off
//	one run each      every schedule has one run for every second at which it was due, and no other runs
//	batches whole     every batch succeeded or was rolled back as a whole, consistent with its tasks and targets
//	others advance    while callers left transactions open, no unrelated job took longer than five acknowledged heartbeats of a node
//	sweep whole       every item of a sweep was handled, and its marks never moved backward or ahead of the items
//
// Each rule can be violated in several ways, which Faults lists. A violation names one of
// them.
//
// The rules compare times of the database's clock with each other, and times of the
// processes' clock with each other, but never one clock with the other. Only durations are
// carried over: the effects of a call in the database take no longer than the call. A rule
// compares the time of an answer only with events that are certain to come before or after
// it: an answer may arrive arbitrarily late, and a process may be suspended between any two
// of its steps. Each fault declares whether it is visible in the order of events or in
// durations (Basis). The first tier of the tests judges only by order.
//
// The checker is tested with the histories of real runs, in testdata: it finds no violation
// in them, and reports the right fault when one of them is damaged. There is a damage for
// every fault. FAIRLEAD_SIM_HISTORIES=n records n histories of each kind on each database
// and damages those instead; with FAIRLEAD_SIM_RECORD=1 they replace the ones in testdata:
//
//	FAIRLEAD_SIM_HISTORIES=3 FAIRLEAD_SIM_RECORD=1 bin/testdb-run -- go test ./sim -run TestDamagedHistories
//
// The rules cannot check what the histories do not show: the order of claims by priority; a
// late write that arrives after a job was taken back and before it is claimed again (a reap
// does not report which jobs it took); two overlapping handlers of a job; the waiting time
// of a job that no dead node held; the reason and number of crashes of an attempt; a job
// that a snapshot has twice while schedules still create others; the rate of a sweep and
// its number of items in flight. The scenarios leave out cancellation, deletion, pruning,
// callbacks, limits that change which jobs may run, and clock jumps. Other tests cover
// these.
//
// Neither rules nor scenarios depend on absolute durations: on a slow or busy machine
// everything takes longer. A run is given up when nothing in it has progressed for long,
// workers are killed only when jobs have ended since the last kill, and a run that has
// shown nothing is repeated.
//
// A run that violates a rule stores its whole history in a file, which the failure names.
// testdata/histories-starved has histories of starved workers that earlier rules reported,
// although no guarantee was broken.
//
// FAIRLEAD_SIM_JOBS=50000 makes the tests of this package long, FAIRLEAD_SIM_SEED=n repeats
// the random choices of a run, and the flag -artifacts of go test retains histories and
// logs. FAIRLEAD_SIM_SCHEDULES=2000 and FAIRLEAD_SIM_SECONDS=60 set the number and duration
// of schedules, FAIRLEAD_SIM_TASKS=5000 sets the number of tasks in batches, and
// FAIRLEAD_SIM_CALLERS=1200 sets the number of seconds for which callers leave transactions
// open.
//
// Package faulty complements this package: it contains a store that fails on command inside
// one process, for interleavings that need exactly one lost answer.
package sim
