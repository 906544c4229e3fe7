// Package interleave plays two operations against each other in every order.
//
// An [Actor] is one operation of the store's contract. A [Subject] is the state of a database
// in which two actors meet. A [Stage] lets a [Pair] of actors act on a real database: each has
// a store and connections of its own, which pass through a valve that stops the actor before
// each round trip. The stage plays the pair in every [Order] with few switches between the
// actors. Afterwards the database must follow the rules, and its content must be that of one
// of the two serial orders, unless an [Exception] explains the difference.
//
// Command interleave/prove plays all pairs: see docs/proof.md. The tests of this package play a
// few.
package interleave

import (
	"context"
	"database/sql"
	"slices"
)

// An Actor is one operation of the contract, as a process performs it.
type Actor struct {
	Name string
	// On selects the subjects on which the actor acts: those with all of these traits.
	On []Trait
	// Repeats is set for what nodes repeat at every poll. It may skip rows that are locked,
	// and is repeated after both actors have finished.
	Repeats bool
	// Steps is set if the operation consists of several transactions. If its process dies in
	// between, it may be done in part.
	Steps bool
	// Calls is set for a caller's transaction.
	Calls bool
	// Waits is set if the operation waits for a caller's transaction until its own query
	// timeout: see docs/stores.md. All others end while a caller's transaction stays open.
	Waits bool
	// Do performs the operation and returns its result, without ids, fences and times.
	Do func(c *cue) string
}

// A Trait is a property of a subject.
type Trait string

// The traits of subjects.
const (
	hasJob      Trait = "a job"
	hasRun      Trait = "a run"           // the job is or was leased
	hasWait     Trait = "a wait"          // the job waits for an answer
	hasKey      Trait = "a key"           // the job holds the key k
	hasGate     Trait = "a gate"          // jobs behind the gate g
	hasLimit    Trait = "a limit"         // the tenant acme has a cap of one
	hasDead     Trait = "a dead node"     // the lease of the holder has expired
	hasPlain    Trait = "nothing special" // representative of the subjects without a trait
	hasEnded    Trait = "an ended job"    // old enough to be pruned
	hasTwo      Trait = "two runs"        // the holder runs two jobs
	hasPause    Trait = "a paused queue"
	hasBulk     Trait = "a bulk"
	hasBatch    Trait = "a batch"
	hasSchedule Trait = "a schedule"
	hasCalendar Trait = "a calendar"
	hasSweep    Trait = "a sweep"
)

// A cue is what an actor gets to act.
type cue struct {
	*scene
	ctx       context.Context
	store     Store
	caller    *sql.DB
	performer *performer // nil when an actor is repeated
}

// A Subject is the state in which two actors meet.
type Subject struct {
	Name   string
	Traits []Trait
	set    func(s *scene) error
}

// meets reports whether an actor acts on a subject.
func (a *Actor) meets(subject *Subject) bool {
	for _, want := range a.On {
		if !subject.has(want) {
			return false
		}
	}
	return true
}

// features are the traits of subjects that belong to a feature. What job actors do to each
// other at such a subject, they also do at a plain job.
var features = []Trait{hasBatch, hasSchedule, hasSweep, hasBulk}

// brings reports whether two actors are played at a subject.
func (s *Subject) brings(a, b *Actor) bool {
	if !a.meets(s) || !b.meets(s) {
		return false
	}
	for _, feature := range features {
		if s.has(feature) {
			return slices.Contains(a.On, feature) || slices.Contains(b.On, feature)
		}
	}
	return true
}

func (s *Subject) has(want Trait) bool {
	return slices.Contains(s.Traits, want)
}
