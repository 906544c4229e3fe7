package hold

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store keeps holds.
type Store interface {
	// Holds lists the holds that match, newest (largest ID) first.
	Holds(ctx context.Context, filter Filter) (Page, error)
	// History derives what a job waited for. It fails with ErrNotFound.
	History(ctx context.Context, id int64) (History, error)

	// HoldLook returns how looks stand. Without a look it is zero but for Now.
	HoldLook(ctx context.Context) (Standing, error)
	// OpenHolds lists the holds that still last, at most MaxOpen, oldest first.
	OpenHolds(ctx context.Context) ([]Hold, error)
	// HeldBack looks at the next lanes that have ready jobs, at most LanesPerLook, and at
	// the next gates at which jobs are parked, at most GatesPerLook, and says what keeps
	// these jobs from starting, by the facts that Explain and claims decide by.
	HeldBack(ctx context.Context, after Place) (Sight, error)
	// KeepHolds stores what a look found, all or nothing. It returns false, and stores
	// nothing, if another look was kept since the one of that version.
	KeepHolds(ctx context.Context, found Found) (bool, error)
	// PruneHolds removes at most limit holds that ended longer ago than keep, and of more
	// than most those that ended first. It notes from when on all are kept: see Page.Since.
	// It returns how many it removed.
	PruneHolds(ctx context.Context, keep time.Duration, most, limit int) (int, error)
}

// Bounds of what a look costs and of what is kept, whatever is stored.
const (
	LanesPerLook = 1000    // with more lanes that have ready jobs, several looks make a round
	GatesPerLook = 200     // the same of gates
	MaxOpen      = 10_000  // holds that last at once; of more causes those of narrow scopes are left out
	MaxKept      = 200_000 // holds that a witness keeps in all, about
)

// Standing is how looks stand.
type Standing struct {
	Version int64     // of the last look; zero: there was none
	At      time.Time // when it was
	Due     time.Time // when the next look was to come at the latest
	Since   time.Time // what was before is not known
	LastID  int64     // of all holds
	Now     time.Time // the database's clock
}

// Blind reports whether no node looked for longer than another takes to take over.
func (s Standing) Blind(now time.Time) bool {
	return s.Version != 0 && now.Sub(s.At) > 2*s.Due.Sub(s.At)
}

// EndUnseen ends holds that last as of the last look, if no node looks any more: what lasted
// then is not known to last.
func (s Standing) EndUnseen(holds []Hold) {
	for i := range holds {
		if holds[i].Until.IsZero() && s.Blind(s.Now) {
			holds[i].Until = s.At
		}
	}
}

// ahead reports whether the last look is from before the clock was set back.
func (s Standing) ahead() bool { return s.At.After(s.Now) }

// Place is how far the looks of a round have come.
type Place struct {
	Lane int32
	Gate int64
}

// Sight is what one look sees.
type Sight struct {
	Now   time.Time
	Seen  []Seen // each cause once
	Waits bool   // there are jobs that wait: ready ones, or parked ones
	Next  Place  // where the round goes on
	Whole bool   // the round is over: all that wait were looked at
}

// Seen is a cause as a look sees it.
type Seen struct {
	Cause
	Used, Cap int
	Since     time.Time // when it began, if that is known; else zero
}

// Found is what a look has found.
type Found struct {
	Version int64         // of the look before; zero: there was none
	Next    int64         // version of this look
	Now     time.Time     // of this look, by the database's clock
	Due     time.Duration // within which the next one comes
	Begun   []Hold        // new ones, with IDs above LastID of the look before; those with an Until are over already
	Ended   []Hold        // IDs, and when they ended; what has ended already stays as it is

	last int64 // the largest ID so far
}

// begin adds a hold and returns it with its ID.
func (f *Found) begin(h Hold) Hold {
	f.last++
	h.ID = f.last
	f.Begun = append(f.Begun, h)
	return h
}

// end adds the end of a hold.
func (f *Found) end(h Hold, until time.Time) {
	h.Until = until
	f.Ended = append(f.Ended, h)
}

// Source is what a witness asks of a database.
type Source interface {
	Store
	Nodes(ctx context.Context) ([]fairlead.Node, error)
}
