package sim

import "slices"

// A Rule is a guarantee that Check verifies. The package documentation describes the rules.
type Rule string

// All rules.
const (
	NothingLost    Rule = "nothing lost"
	FencesGrow     Rule = "fences grow"
	OneLiveLease   Rule = "one live lease"
	ZombiesRefused Rule = "zombies refused"
	LiveAccepted   Rule = "live accepted"
	SoonRecovered  Rule = "recovery"
	PatientReapers Rule = "patient reapers"
	NeverEarly     Rule = "never early"
	OnePlace       Rule = "one place"
	CapsKept       Rule = "caps kept"
	GatesKept      Rule = "gates kept"
	OneRunEach     Rule = "one run each"
	BatchesWhole   Rule = "batches whole"
	SweepWhole     Rule = "sweep whole"
	OthersAdvance  Rule = "others advance"
)

// A Fault is one way to violate a rule. Its name is stable, so that reports and tests can
// refer to it.
type Fault struct {
	Rule Rule
	Name string
}

// A Basis is the type of evidence for a fault.
type Basis int

const (
	// ByOrder judges by the order of the database's commits, according to its fences and its
	// own clock, and by the events recorded before a call and after its answer. It does not
	// depend on the speed of the machine.
	ByOrder Basis = iota
	// ByTime judges by durations, or by the end of a lease.
	ByTime
)

// String returns the rule followed by the name.
func (f Fault) String() string { return string(f.Rule) + ": " + f.Name }

// faults lists all faults that the checker can find, in the order of declaration.
var faults []Fault

// timed lists the faults that are judged by time.
var timed = map[Fault]bool{}

// fault declares another way to violate the rule, visible in the order of events.
func (r Rule) fault(name string) Fault {
	f := Fault{r, name}
	faults = append(faults, f)
	return f
}

// timedFault declares another way to violate the rule, visible in durations.
func (r Rule) timedFault(name string) Fault {
	f := r.fault(name)
	timed[f] = true
	return f
}

// Basis returns the type of evidence for the fault.
func (f Fault) Basis() Basis {
	if timed[f] {
		return ByTime
	}
	return ByOrder
}

// Faults returns all faults that Check can find.
func Faults() []Fault { return slices.Clone(faults) }

// Faults in the final state of jobs.
var (
	JobVanished      = NothingLost.fault("job vanished")
	JobStoredTwice   = NothingLost.fault("job stored twice")
	JobFromNowhere   = NothingLost.fault("job from nowhere")
	JobNotEnded      = NothingLost.fault("job not ended")
	WrongEnd         = NothingLost.fault("end not as planned")
	EndNotReached    = NothingLost.fault("end that no handler reached")
	EndNotStarted    = NothingLost.fault("end in an attempt that no handler started")
	EndForgotten     = NothingLost.fault("acknowledged end forgotten")
	ClaimedAfterEnd  = NothingLost.fault("claimed after its end")
	FailuresOff      = NothingLost.fault("failures miscounted")
	PoisonTooSoon    = NothingLost.fault("poison after too few crashes")
	ProgressReverted = NothingLost.fault("acknowledged progress forgotten")

	CommitForgotten   = NothingLost.fault("commit of a caller forgotten")
	RollbackForgotten = NothingLost.fault("rollback of a caller forgotten")
)

// Faults in leases and in operations under them.
var (
	FenceTwice       = FencesGrow.fault("fence given twice")
	FenceWentBack    = FencesGrow.fault("fence went back")
	AttemptRepeated  = FencesGrow.fault("attempt number repeated")
	StartedLate      = FencesGrow.timedFault("started under an old fence")
	StartedUnclaimed = FencesGrow.fault("started without a claim")

	StrangerClaimed = OneLiveLease.fault("claimed by a node that had not joined")
	DeadClaimed     = OneLiveLease.timedFault("claimed by a node whose lease was over")
	TwoLiveLeases   = OneLiveLease.timedFault("two live leases")
	HeldByAnother   = OneLiveLease.fault("held by a node that did not claim it")

	LateEndAccepted      = ZombiesRefused.fault("late end accepted")
	LateProgressAccepted = ZombiesRefused.fault("late progress accepted")
	ProgressAfterEnd     = ZombiesRefused.fault("progress accepted after the lease was settled")

	EndRefused      = LiveAccepted.fault("end refused to a living node")
	ProgressRefused = LiveAccepted.fault("progress refused to a living node")

	RecoveredLate = SoonRecovered.timedFault("recovered too late")

	ReapedOnArrival = PatientReapers.timedFault("reaped on arrival")
	ReapedInDoubt   = PatientReapers.timedFault("reaped after a failed beat")

	ClaimedEarly = NeverEarly.fault("claimed before it was due")
	RetriedEarly = NeverEarly.timedFault("retried before its pause was over")
)

// Faults in snapshots of the database.
var (
	SnapshotLacksJobs    = OnePlace.fault("snapshot lacks jobs")
	SnapshotRepeatsJobs  = OnePlace.fault("snapshot repeats jobs")
	SnapshotFenceBack    = OnePlace.fault("snapshot fence went back")
	SnapshotFenceUnended = OnePlace.fault("snapshot fence above the last one")

	WorkStalled = OthersAdvance.timedFault("unblocked work did not advance")

	CapExceeded  = CapsKept.timedFault("cap exceeded")
	GateExceeded = GatesKept.timedFault("gate exceeded")
)

// Faults in schedules, batches and sweeps.
var (
	InstantMissed   = OneRunEach.fault("instant missed")
	InstantTwice    = OneRunEach.fault("instant fired twice")
	InstantNotDue   = OneRunEach.fault("instant that was not due")
	InstantSkipped  = OneRunEach.fault("instant skipped")
	TriggerNotAsked = OneRunEach.fault("trigger that was not asked for")

	BatchEndedWrong = BatchesWhole.fault("batch ended otherwise")
	TallyOff        = BatchesWhole.fault("tally differs from the tasks")
	TargetsOff      = BatchesWhole.fault("targets differ from the batch")

	ItemSkipped        = SweepWhole.fault("item skipped")
	MarkWentBack       = SweepWhole.fault("mark went back")
	MarkTooFar         = SweepWhole.fault("mark ahead of the items")
	LateCheckpoint     = SweepWhole.fault("late checkpoint accepted")
	CheckpointReverted = SweepWhole.fault("stored checkpoint forgotten")
	SweepNotFinished   = SweepWhole.fault("sweep not finished")
	SweepCountsOff     = SweepWhole.fault("sweep counts off")
	FailedItemsOff     = SweepWhole.fault("failed items differ from the plan")
)
