package hold

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// lateLooks is how many looks may be missing before another node takes over.
	lateLooks = 3
	// idleLooks is how many looks one stands for that saw nothing wait.
	idleLooks = 5
	// lostLooks is for how many looks a cause is not seen before its hold is over: a lane
	// at its cap or rate is open for moments, again and again.
	lostLooks = 3
	// restPerRow is how much longer the next look waits for each row that this one read, so
	// that the share of the database's time that looks take is bounded.
	restPerRow = 100 * time.Microsecond
	// mostRest bounds that.
	mostRest = 30 * time.Second
	// mostVersionStep bounds by how much a version grows. It grows by chance: a database
	// may lose a look, and the next one must not reach a version that a witness knows.
	mostVersionStep = 1 << 20
	// pruneEvery is how often the witness removes old holds, pruneChunk how many at once.
	pruneEvery = time.Minute
	pruneChunk = 1000
)

// Witness looks at what keeps jobs waiting. All nodes have one; one of them at a time
// stores what it sees. What it remembers is a copy of what is stored, but for when causes
// were last seen: if it dies, the next one takes them as seen at the last look.
type Witness struct {
	store Source
	every time.Duration
	keep  time.Duration

	version int64     // of the look that it stored last; zero: another is the witness
	idle    bool      // nothing waited then
	rest    time.Time // it does not look before
	pruned  time.Time // by its own clock
	record  *record
}

// NewWitness makes a witness that looks every so often and keeps holds so long.
func NewWitness(store Source, every, keep time.Duration) *Witness {
	return &Witness{store: store, every: every, keep: keep}
}

// Look looks, unless another node does or it is too early. An error leaves what is stored
// as it was, or as the look found it: the next look begins from there.
func (w *Witness) Look(ctx context.Context) error {
	standing, err := w.store.HoldLook(ctx)
	if err != nil {
		return err
	}
	switch mine := w.version != 0 && standing.Version == w.version; {
	case mine && standing.Now.Before(w.rest) && !standing.ahead():
		return nil
	case mine:
	case standing.Now.Before(standing.Due) && !standing.ahead():
		return nil
	default:
		if err := w.takeOver(ctx, standing); err != nil {
			return err
		}
	}
	kept, err := w.look(ctx, standing)
	if err != nil || !kept {
		w.version, w.idle = 0, false // what is stored now is not known here
		return err
	}
	return w.prune(ctx)
}

// takeOver learns what is stored.
func (w *Witness) takeOver(ctx context.Context, standing Standing) error {
	open, err := w.store.OpenHolds(ctx)
	if err != nil {
		return err
	}
	w.version, w.idle, w.record = 0, false, newRecord(open, standing.At)
	return nil
}

// look looks once and stores what has changed. It returns false if another node has become
// the witness.
func (w *Witness) look(ctx context.Context, standing Standing) (bool, error) {
	sight, err := w.store.HeldBack(ctx, w.record.place)
	if err != nil {
		return false, err
	}
	found := Found{Version: standing.Version, Next: standing.Version + 1 + rand.Int64N(mostVersionStep), Now: sight.Now, last: standing.LastID}
	if standing.Blind(sight.Now) {
		nodes, err := w.store.Nodes(ctx)
		if err != nil {
			return false, err
		}
		w.record.miss(&found, standing.At, nodes)
	}
	w.record.compare(&found, sight, lostLooks*w.every)
	pause := max(w.every, min(time.Duration(sight.Rows)*restPerRow, mostRest))
	idle := !sight.Waits && w.record.empty()
	if idle {
		pause = max(pause, idleLooks*w.every)
	}
	found.Due = pause + lateLooks*w.every
	if idle && w.idle && sight.Now.Before(standing.At.Add(idleLooks*w.every)) {
		return true, nil // the last look said that it stands for this one
	}
	kept, err := w.store.KeepHolds(ctx, found)
	if err != nil || !kept {
		return false, err
	}
	w.version, w.idle, w.rest = found.Next, idle, time.Time{}
	if pause > w.every && !idle {
		w.rest = sight.Now.Add(pause)
	}
	return true, nil
}

// prune removes old holds from time to time.
func (w *Witness) prune(ctx context.Context) error {
	if time.Since(w.pruned) < pruneEvery {
		return nil
	}
	w.pruned = time.Now()
	for {
		removed, err := w.store.PruneHolds(ctx, w.keep, MaxKept, pruneChunk)
		if err != nil || removed < pruneChunk {
			return err
		}
	}
}
