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
	// restsPerLook is how many times as long as a look took the witness rests after it, so
	// that looks take a small share of one connection's time. What a look reads is bounded,
	// but not what the database steps over to find it.
	restsPerLook = 20
	// mostRest bounds that: a look that took long once must not end the record for long.
	mostRest = time.Minute
	// mostLook is how long a look may take. One that takes longer fails.
	mostLook = 10 * time.Second
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
	rest    time.Time // it does not look before, by its own clock
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
	if time.Now().Before(w.rest) {
		return nil
	}
	standing, err := w.store.HoldLook(ctx)
	if err != nil {
		return err
	}
	if mine := w.version != 0 && standing.Version == w.version; !mine {
		if standing.Now.Before(standing.Due) && !standing.ahead() {
			return nil
		}
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
	sight, took, err := w.see(ctx)
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
	pause := max(w.every, restAfter(took))
	w.record.compare(&found, sight, lostLooks*pause)
	idle := !sight.Waits && w.record.empty()
	if idle && w.idle && pause == w.every && sight.Now.Before(standing.At.Add(idleLooks*w.every)) {
		return true, nil // the last look said that it stands for this one
	}
	found.Due = took + pause + lateLooks*max(w.every, took)
	if idle {
		found.Due = max(found.Due, (idleLooks+lateLooks)*w.every)
	}
	kept, err := w.store.KeepHolds(ctx, found)
	if err != nil || !kept {
		return false, err
	}
	w.version, w.idle = found.Next, idle
	return true, nil
}

// see looks, and rests after it if it took long, whatever came of it.
func (w *Witness) see(ctx context.Context) (Sight, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, mostLook)
	defer cancel()
	begun := time.Now()
	sight, err := w.store.HeldBack(ctx, w.record.place)
	took := time.Since(begun)
	if rest := restAfter(took); rest > w.every {
		w.rest = time.Now().Add(rest)
	}
	return sight, took, err
}

// restAfter is how long a witness rests after a look that took so long.
func restAfter(took time.Duration) time.Duration { return min(restsPerLook*took, mostRest) }

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
