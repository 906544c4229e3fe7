package batch

import (
	"slices"
	"time"
)

// Record is a batch as a store keeps it: the batch of the users, and the ledger by which
// this package conducts it. A Client returns only the batch.
type Record struct {
	Batch
	Ledger
}

// Ledger is what this package writes down about a batch between two transactions. A store
// keeps all of it and changes none of it.
type Ledger struct {
	Opened bool // all tasks are stored; until then users do not see the batch

	// Generic are the types of targets whose tasks the operation for AnyType does. It was
	// settled when the batch was created.
	Generic []string `json:",omitempty"`

	Held      int // tasks of the first pass that are not released yet
	HeldRetry int // the same of passes that retry
	HeldUndo  int // the same of passes that roll back
	Out       int // released tasks that have not been seen to have ended
	OutUndo   int // those of them that are rolled back

	Undo     Wanted // how it is rolled back, if Undoing
	Forgiven int    // failures that do not count for StopAfter any more

	Wanted     []Wanted  // passes that are still to be made
	Wants      int       // how many passes were ever asked for
	Tries      int       // how often a node began to make one
	PreparedAt time.Time // when a node last did

	Ahead    int       // tasks to release at once, if MaxRunning is zero
	OutAt    time.Time // when tasks were last released
	Saved    float64   // what the rate allowed at OutAt and was not used
	SoughtAt time.Time // when missing jobs were last looked for
	Line     Line      `json:",omitempty"` // the tasks that are out
	MovedAt  time.Time `json:",omitzero"`  // when one of them was last seen to have ended, or the first was released
	Seen     Seen      `json:",omitzero"`

	Losses   []Loss `json:",omitempty"` // that it was open at
	LossSeen int64  `json:",omitempty"` // fence of the last one that was considered
	Combed   int    `json:",omitempty"` // number of the last chunk that comb has seen
}

// Wanted is a pass that was asked for and is still to be made.
type Wanted struct {
	Number int // which of Wants it is
	Kind   PassKind
	Tasks  []int64 // IDs; nil: all that come into question
	Failed bool    // PassUndo: failed tasks that had started too
	Serial bool    // PassUndo
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
