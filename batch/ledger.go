package batch

import (
	"slices"
	"time"
)

// Record is a batch as a store keeps it: the public batch plus the ledger that this package
// needs to run it. A Client returns only the batch.
type Record struct {
	Batch
	Ledger
}

// Ledger is the part of a batch's state that this package carries from one transaction to
// the next. Stores save and return it unchanged.
type Ledger struct {
	Opened bool // all tasks are stored; until then lists omit the batch

	// Generic lists the types of targets for which the operation for AnyType performs the
	// tasks. It is determined when the batch is created.
	Generic []string `json:",omitempty"`

	Held      int // tasks of the first pass that are not released yet
	HeldRetry int // tasks of retry passes that are not released yet
	HeldUndo  int // tasks of undo passes that are not released yet
	Out       int // released tasks that have not been counted as ended
	OutUndo   int // number of tasks among Out that belong to undo passes

	Undo     Wanted // the undo pass that the last RollBack requested, if Undoing
	Forgiven int    // failures that no longer count towards StopAfter

	Wanted     []Wanted  // passes still to be prepared
	Wants      int       // number of passes ever requested
	Tries      int       // number of times that a node began to prepare one
	PreparedAt time.Time // time at which a node last began to prepare one

	Ahead    int       // number of tasks to release at once if MaxRunning is zero
	OutAt    time.Time // time at which tasks were last released
	Saved    float64   // unused part of the rate at OutAt
	SoughtAt time.Time // time of the last search for missing jobs
	Line     Line      `json:",omitempty"` // the released tasks
	MovedAt  time.Time `json:",omitzero"`  // time at which the end of one of them was last counted, or at which the first was released
	Seen     Seen      `json:",omitzero"`  // cached count of running tasks

	Losses   []Loss `json:",omitempty"` // losses of commits while the batch was open
	LossSeen int64  `json:",omitempty"` // fence of the last loss that was processed
	Combed   int    `json:",omitempty"` // number of the last chunk that was searched for lost tasks
}

// Wanted is a pass that has been requested but not prepared.
type Wanted struct {
	Number int // position of the request among Wants
	Kind   PassKind
	Tasks  []int64 // IDs; nil means all eligible tasks
	Failed bool    // PassUndo: include failed tasks that had started
	Serial bool    // PassUndo: each task waits for the previous one
}

// forUser returns the batch without its ledger.
func (r *Record) forUser() Batch {
	batch := r.Batch
	batch.Awaiting = r.awaitsApproval()
	return batch
}

// kindOf is the kind of the tasks that are done to a type of target.
func (r *Record) kindOf(targetType string) string {
	if slices.Contains(r.Generic, targetType) {
		return TaskKind(targetType, AnyType)
	}
	return TaskKind(targetType, r.Type)
}

// open lets a batch begin whose tasks are stored. generic is as in Ledger.
func (r *Record) open(total int, generic []string) {
	r.Opened, r.Total, r.Held, r.Tries, r.Generic = true, total, total, 1, generic
	r.Tally = Tally{Pending: total}
	r.Passes = []Pass{{Number: 1, Kind: PassForward, Tasks: total}}
}

// heldBy is how many tasks of passes of a kind are not released yet.
func (l *Ledger) heldBy(kind PassKind) *int {
	switch kind {
	case PassRetry:
		return &l.HeldRetry
	case PassUndo:
		return &l.HeldUndo
	}
	return &l.Held
}

// ask asks for a pass.
func (l *Ledger) ask(w Wanted) {
	if len(l.Wanted) == 0 {
		l.PreparedAt = time.Time{} // no node makes one now
	}
	if len(w.Tasks) == 0 {
		w.Tasks = nil // all
	}
	l.Wants++
	w.Number = l.Wants
	l.Wanted = append(l.Wanted, w)
}
