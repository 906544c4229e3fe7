package engine

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// Observer receives a node's events, for metrics and listeners. The node calls its methods
// from many goroutines, so they must return quickly. Embed NoObserver to implement only some
// of them.
type Observer interface {
	// Claimed is called after each claim, with the number of jobs in its result.
	Claimed(jobs int, took time.Duration)
	// Started is called before a handler runs.
	Started(job *fairlead.Job)
	// Ended is called when the store has acknowledged a run's settlement; settled reports
	// whether the settlement took effect.
	Ended(job *fairlead.Job, settlement fairlead.Settlement, settled fairlead.Settled, took time.Duration)
	// Flushed is called after each write of settlements; a failed write is
	// repeated.
	Flushed(settlements int, took time.Duration, err error)
	// Beaten is called after each beat.
	Beaten(took time.Duration, err error)
	// Reaped is called after jobs were taken back from dead nodes.
	Reaped(reaped driver.Reaped)
	// Unreaped is called after each check for jobs that should have been taken back from
	// dead nodes long ago, with their number.
	Unreaped(jobs int)
	// LeaseLost is called when the node has lost its lease or could not confirm it in
	// time. The node's current runs then no longer count, and it joins again.
	LeaseLost()
	// Fired is called for each run of a schedule that was started, queued or skipped, with
	// its delay.
	Fired(fire schedule.PlannedFire, late time.Duration)
	// Conducted is called after each check of a batch.
	Conducted(took time.Duration, err error)
	// Stalled is called when the node had work and free slots but claimed nothing.
	// Claiming then restarts.
	Stalled()
	// Abandoned is called when a handler has ignored the end of its context for longer
	// than its grace period.
	Abandoned(job *fairlead.Job)
}

// NoObserver is an Observer whose methods do nothing.
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
