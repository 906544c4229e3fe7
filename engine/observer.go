package engine

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// Observer is called for what a node does, for metrics and listeners. Its methods
// are called from many goroutines and must return quickly. Embed NoObserver to
// implement a part of it.
type Observer interface {
	// Claimed is called after each claim with how many jobs it brought.
	Claimed(jobs int, took time.Duration)
	// Started is called before a handler runs.
	Started(job *fairlead.Job)
	// Ended is called when a run's settlement has been acknowledged; settled
	// reports whether it took effect.
	Ended(job *fairlead.Job, settlement fairlead.Settlement, settled fairlead.Settled, took time.Duration)
	// Flushed is called after each write of settlements; a failed write is
	// repeated.
	Flushed(settlements int, took time.Duration, err error)
	// Beaten is called after each beat.
	Beaten(took time.Duration, err error)
	// Reaped is called when jobs were taken back from dead nodes.
	Reaped(reaped driver.Reaped)
	// Unreaped is called after each look for jobs that dead nodes have held for much
	// longer than it takes to take them back.
	Unreaped(jobs int)
	// LeaseLost is called when the node has lost its lease, or could not confirm it
	// in time: what it ran does not count, and it starts over.
	LeaseLost()
	// Fired is called for each run of a schedule that was made, queued or skipped,
	// with how late that was.
	Fired(fire schedule.PlannedFire, late time.Duration)
	// Conducted is called after each look at a batch.
	Conducted(took time.Duration, err error)
	// Stalled is called when there was work and room for it, but nothing was claimed:
	// claiming begins anew.
	Stalled()
	// Abandoned is called when a handler ignored the end of its context for
	// longer than its grace.
	Abandoned(job *fairlead.Job)
}

// NoObserver observes nothing.
type NoObserver struct{}

var _ Observer = NoObserver{}

// Claimed does nothing.
func (NoObserver) Claimed(int, time.Duration) {}

// Started does nothing.
func (NoObserver) Started(*fairlead.Job) {}

// Ended does nothing.
func (NoObserver) Ended(*fairlead.Job, fairlead.Settlement, fairlead.Settled, time.Duration) {}

// Flushed does nothing.
func (NoObserver) Flushed(int, time.Duration, error) {}

// Beaten does nothing.
func (NoObserver) Beaten(time.Duration, error) {}

// Reaped does nothing.
func (NoObserver) Reaped(driver.Reaped) {}

// Unreaped does nothing.
func (NoObserver) Unreaped(int) {}

// LeaseLost does nothing.
func (NoObserver) LeaseLost() {}

// Stalled does nothing.
func (NoObserver) Stalled() {}

// Abandoned does nothing.
func (NoObserver) Abandoned(*fairlead.Job) {}

// Conducted does nothing.
func (NoObserver) Conducted(time.Duration, error) {}

// Fired does nothing.
func (NoObserver) Fired(schedule.PlannedFire, time.Duration) {}
