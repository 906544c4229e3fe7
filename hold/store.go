package hold

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A Store stores holds.
type Store interface {
	// Holds returns the matching holds, newest (largest ID) first.
	Holds(ctx context.Context, filter Filter) (Page, error)
	// History derives what a job waited for. It returns ErrNotFound if the job does not exist.
	History(ctx context.Context, id int64) (History, error)

	// HoldLook returns the state of the looks. Before the first look, only Now is set.
	HoldLook(ctx context.Context) (LookState, error)
	// OpenHolds returns the ongoing holds, at most MaxOpen, oldest first.
	OpenHolds(ctx context.Context) ([]Hold, error)
	// HeldBack reads the next lanes that have ready jobs, at most LanesPerLook, and the next
	// gates at which jobs are parked, at most GatesPerLook. It returns what keeps these jobs
	// from starting, based on the same facts as Explain and claims.
	HeldBack(ctx context.Context, after Place) (Sight, error)
	// KeepHolds stores the results of a look in one transaction. It returns false and stores
	// nothing if another look was stored since the one of that version.
	KeepHolds(ctx context.Context, found Found) (bool, error)
	// KeepSample stores the activity of the last whole SampleEvery, once, and removes
	// samples in excess of SamplesKept.
	KeepSample(ctx context.Context) error
	// Samples lists the samples of the time after from, up to and including to, oldest
	// first. Times in which no node was the witness have no samples.
	Samples(ctx context.Context, from, to time.Time) ([]Sample, error)
	// PruneHolds deletes at most limit holds that ended longer ago than keep. If more than
	// most holds remain, it also deletes those that ended first. It records the time from
	// which all holds are retained: see Page.Since. It returns the number of deleted holds.
	PruneHolds(ctx context.Context, keep time.Duration, most, limit int) (int, error)
}

// Limits on the cost of a look and on the stored data.
const (
	LanesPerLook = 1000    // if more lanes have ready jobs, a round takes several looks
	GatesPerLook = 200     // likewise for gates
	MaxOpen      = 10_000  // maximum number of ongoing holds; beyond it, causes of narrow scopes are left out
	MaxKept      = 200_000 // approximate number of holds that a witness retains in total
)

// LookState is the state that one look passes on to the next.
type LookState struct {
	Version int64     // version of the last look; zero = no look so far
	At      time.Time // time of the last look
	Due     time.Time // deadline of the next look
	Since   time.Time // earlier times are not recorded
	LastID  int64     // largest hold ID
	Now     time.Time // the database's clock
}

// Blind reports whether no node has looked for longer than a takeover by another node
// requires.
func (s LookState) Blind(now time.Time) bool {
	return s.Version != 0 && now.Sub(s.At) > 2*s.Due.Sub(s.At)
}

// EndUnseen ends the ongoing holds at the time of the last look if no node looks any longer.
// These holds may have ended since that look.
func (s LookState) EndUnseen(holds []Hold) {
	for i := range holds {
		if holds[i].Until.IsZero() && s.Blind(s.Now) {
			holds[i].Until = s.At
		}
	}
}

// ahead reports whether the last look is in the future, because the clock was set back.
func (s LookState) ahead() bool { return s.At.After(s.Now) }

// A Place is a look's position in its round.
type Place struct {
	Lane int32
	Gate int64
}

// A Sight is what one look has read from the lanes and gates.
type Sight struct {
	Now   time.Time
	Seen  []Seen // each cause once
	Waits bool   // whether ready or parked jobs are waiting
	Next  Place  // position where the round continues
	Whole bool   // whether the round is complete: all waiting jobs were covered
}

// Seen is a cause that a look has found.
type Seen struct {
	Cause
	Used, Cap int
	Since     time.Time // start time, or zero if unknown
}

// Found contains the result of a look.
type Found struct {
	Version int64         // version of the previous look; zero = there was none
	Next    int64         // version of this look
	Now     time.Time     // time of this look, by the database's clock
	Due     time.Duration // time until the next look at the latest
	Begun   []Hold        // new holds, with IDs above LastID of the previous look; those with an Until have already ended
	Ended   []Hold        // IDs and end times; holds that have already ended do not change

	last int64 // largest ID so far
}

// begin adds a hold and returns it with its ID.
func (f *Found) begin(h Hold) Hold {
	f.last++
	h.ID = f.last
	f.Begun = append(f.Begun, h)
	return h
}

// end records the end of a hold.
func (f *Found) end(h Hold, until time.Time) {
	h.Until = until
	f.Ended = append(f.Ended, h)
}

// A Source provides the database operations that a witness needs.
type Source interface {
	Store
	Nodes(ctx context.Context) ([]fairlead.Node, error)
}
