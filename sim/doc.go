// Package sim crashes nodes and checks that nothing was lost.
//
// A scenario runs several nodes as processes of their own on one database,
// and a driver that kills them (SIGKILL) and pauses them (SIGSTOP) while they
// work. Each writes a history: a file per process, one line per event,
// each line one write to the file, so that what a process did is known after
// any death. What a node is about to ask of the database is written before,
// what it was answered after; so nothing can have happened in the database
// that was not at least announced in a history.
//
// Afterwards Check judges the histories and the final content of the
// database, offline and without looking at the engine or the store. It knows
// these rules:
//
//	nothing lost      every job ended once, as its plan says, and its end is the one that a handler reached; what was acknowledged is kept
//	fences grow       every claim of a job has a larger fence than those before, and every handler runs under a claim
//	one live lease    when a job was claimed, the lease before had been settled, given up, or had run out by its node's beats
//	zombies refused   no settlement or progress counts that was sent after a later claim
//	living believed   no settlement or progress is refused to a node whose lease held
//	recovery          what a killed or paused node held was claimed again, or had ended, soon after, by the beats of a node that could act
//	patient reapers   only a node whose own beats had succeeded for a lease declared others dead, or one whose process was not trusted for three leases
//	never early       no job was claimed before it was due, or before the pause after its last failure was over
//	one place         every snapshot of the database had every job exactly once
//	caps kept         at no moment did more jobs of a tenant, or of all, run than the cap allows
//	gates kept        at no moment did more jobs of a gate have a place than it has, those that back off included
//	one run each      every schedule has one run for every second at which it was due, and no other
//	batches whole     every batch succeeded, or was rolled back, as a whole, and so its tasks and its targets show
//	others advance    while callers left transactions open, no job that waits for none of them took longer than five acknowledged heartbeats of a node
//	sweep whole       every item of a sweep was handled, and its marks never moved backwards nor ahead of the items
//
// Each rule can be broken in several ways, which Faults lists. A violation names one of
// them.
//
// The rules compare the database's clock with itself, and the clock of the
// processes with itself, never one with the other. Only lengths of time are carried over:
// what happens in the database during a call takes no longer than the call. A rule
// compares nothing with the time of an answer but what is certain before it or after it:
// an answer may come arbitrarily late, and a process may get no time between any two of
// its steps. Each fault declares whether the order of events shows it or lengths of time
// do (Basis). The first tier of the tests judges by order alone.
//
// The checker is tested with the histories of real runs, in testdata: it finds nothing in
// them, and names the fault when one of them is damaged. Every fault has its damage.
// FAIRLEAD_SIM_HISTORIES=n records n histories of each kind on each database and damages
// those instead; with FAIRLEAD_SIM_RECORD=1 they replace the ones in testdata:
//
//	FAIRLEAD_SIM_HISTORIES=3 FAIRLEAD_SIM_RECORD=1 bin/testdb-run -- go test ./sim -run TestDamagedHistories
//
// What no history shows, no rule can judge. Not seen are: the order of claims by priority;
// a late write that arrives after a job was taken back and before it is claimed again (a
// reap does not tell which jobs it took); two handlers of a job that overlap; how long
// a job waits that no dead node held; the reason and number of crashes of an attempt; a
// job that a snapshot has twice while schedules still make others; the rate of a sweep
// and how many items it has in flight. Not played are: cancelling, deleting, pruning,
// callbacks, limits that change what may run and clocks that jump. Other tests are for these.
//
// Neither a rule nor a scenario counts seconds: on a slow or busy machine everything
// takes longer. A run is given up when nothing in it has progressed for long, workers are
// killed only when jobs have ended since the last time, and a run in which nothing was
// shown is played again.
//
// A run that breaks a rule stores its whole history in a file, which the failure names.
// testdata/histories-starved has histories of starved workers that earlier rules
// reported, though no guarantee was broken.
//
// FAIRLEAD_SIM_JOBS=50000 makes the tests of this package long, FAIRLEAD_SIM_SEED=n
// repeats what was drawn by lot, and the flag -artifacts of go test keeps histories and
// logs. FAIRLEAD_SIM_SCHEDULES=2000 and
// FAIRLEAD_SIM_SECONDS=60 do the same for schedules, FAIRLEAD_SIM_TASKS=5000 for the tasks
// of batches, and FAIRLEAD_SIM_CALLERS=1200 is for how many seconds callers leave
// transactions open.
//
// Package faulty is the other half: a store that fails on command inside one
// process, for interleavings that need exactly one lost answer.
package sim
