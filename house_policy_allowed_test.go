package fairlead_test

// Reasons that several functions share.
const (
	ofPlace  = "a state is which table holds the job: it says which statement reads, locks, fills or empties that table"
	asRead   = "the row was found in the table of that state"
	toCarry  = "internal/verdict has decided; each kind of end is stored by another statement"
	byOption = "an option of this database is refused where it is read"
	isLocked = "only the database knows that another transaction holds the row"
	askedFor = "what the job says of a taken key is carried out, each way by another statement"

	asAsked = "the contract names the end; the store writes it"
)

// mayDecide says where a store may compare, choose or word, and why: by store, function and
// which of them it does.
var mayDecide = map[string]string{
	"mysql claimer.lease chooses":            asRead,
	"mysql txn.running chooses":              asRead,
	"mysql placed.schedule chooses":          asRead,
	"mysql txn.lockParked chooses":           asRead,
	"mysql txn.lockReady chooses":            asRead,
	"mysql txn.lockWaiting chooses":          asRead,
	"mysql Store.promote chooses":            asRead,
	"mysql txn.lockOverdue chooses":          asRead,
	"mysql txn.lockScheduled chooses":        asRead,
	"mysql txn.lockAllParked chooses":        asRead,
	"mysql txn.lockAllReady chooses":         asRead,
	"postgres claimer.reader chooses":        asRead,
	"postgres Store.standsWaiting chooses":   asRead,
	"postgres Store.standsRunning chooses":   asRead,
	"postgres operation.trials chooses":      asRead,
	"sqlite claimer.leased chooses":          asRead,
	"mysql txn.lockPlace compares":           ofPlace,
	"mysql txn.commonPlaces compares":        ofPlace,
	"mysql txn.uncrash compares":             ofPlace,
	"mysql moves.exit compares":              ofPlace,
	"mysql moves.place compares":             ofPlace,
	"mysql txn.removeRecalled compares":      ofPlace,
	"sqlite txn.uncrash compares":            ofPlace,
	"sqlite txn.leave compares":              ofPlace,
	"sqlite txn.enter compares":              ofPlace,
	"sqlite txn.recall compares":             ofPlace,
	"sqlite txn.recall chooses":              ofPlace,
	"mysql moves.become compares":            toCarry,
	"sqlite txn.become compares":             toCarry,
	"postgres resolving.move compares":       toCarry,
	"postgres settling.move compares":        toCarry,
	"mysql txn.enqueueWave compares":         askedFor,
	"postgres Store.enqueueWave compares":    askedFor,
	"sqlite txn.enqueueKeyed compares":       askedFor,
	"mysql Options.withDefaults words":       byOption,
	"sqlite OpenWith words":                  byOption,
	"postgres NewWith words":                 byOption,
	"postgres endpoint.suit words":           byOption,
	"mysql txn.settleEach chooses":           isLocked,
	"mysql txn.answerMissed chooses":         isLocked,
	"mysql Store.settleBriefly chooses":      isLocked,
	"mysql Store.settleBriefly compares":     isLocked,
	"postgres Store.settleReplacing chooses": isLocked,
	"postgres Store.settleFree chooses":      isLocked,
	"mysql placed.hasPlace compares":         "a job in these tables has a place at its gate; only of a scheduled one a row says so",
	"postgres settling.move chooses":         "the statement reports that a wish ended the job; the model holds it to verdict.Settle",
	"postgres Store.Reap compares":           "the statement reports what it did, in words of its own; the model holds it to verdict.TakeBack",
	"postgres effects.after compares":        "who has to hear of it: nodes of a ready job's lane, the gate of a parked one",
	"postgres Store.pruneJobs compares":      "successes have an index, and a statement, of their own",
	"postgres unkeepable words":              "PostgreSQL alone cannot keep such a text",
	"sqlite scanRunning chooses":             "the counts are kept as JSON under the names of the passes",

	"mysql runTx.CancelRuns compares":   ofPlace,
	"mysql runTx.CancelRuns chooses":    asAsked,
	"mysql runTx.AdmitRuns compares":    ofPlace,
	"mysql txn.endQueued chooses":       asAsked,
	"postgres runTx.CancelRuns chooses": asAsked,
	"sqlite runTx.CancelRuns compares":  ofPlace,
	"sqlite runTx.CancelRuns chooses":   asAsked,
	"sqlite txn.deleteSchedule chooses": asAsked,
}
