package hold

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// lateLooks is the number of missing looks after which another node takes over.
	lateLooks = 3
	// idleLooks multiplies the interval after a look that found no waiting jobs.
	idleLooks = 5
	// lostLooks is the number of looks without a cause after which its hold ends: a lane at
	// its cap or rate is briefly open again and again.
	lostLooks = 3
	// restsPerLook is the length of the pause after a look, as a multiple of the look's
	// duration. It keeps the looks to a small share of one connection's time. The number of
	// rows that a look returns is bounded, but not the number of rows that the database scans
	// to find them.
	restsPerLook = 20
	// mostRest limits that pause: one slow look must not interrupt the record for long.
	mostRest = time.Minute
	// mostLook is the timeout of a look.
	mostLook = 10 * time.Second
	// mostVersionStep limits the random increment of a version. Versions grow randomly because
	// a database may lose a look, and the next look must not reach a version that another
	// witness knows.
	mostVersionStep = 1 << 20
	// pruneEvery is the interval at which the witness deletes old holds, and pruneChunk the
	// number it deletes at once.
	pruneEvery = time.Minute
	pruneChunk = 1000
)

// A Witness records what keeps jobs waiting. Every node has a witness, but only one witness
// at a time stores its findings. Its memory is a copy of the stored data, except for the
// times at which it last saw each cause. If the witness dies, its successor uses the time of
// the last look instead.
type Witness struct {
	store Source
	every time.Duration
	keep  time.Duration

	version int64     // version of the last look it stored; zero = another node is the witness
	idle    bool      // whether that look found no waiting jobs
	rest    time.Time // time of the next look, by the node's own clock
	pruned  time.Time // by the node's own clock
	sampled time.Time // start of the SampleEvery in which it stored a sample, by the database's clock
	record  *record
}

// NewWitness returns a witness that looks at intervals of every and retains holds for the
// period keep.
func NewWitness(store Source, every, keep time.Duration) *Witness {
	return &Witness{store: store, every: every, keep: keep}
}

// Look performs a look, unless another node is the witness or the next look is not due yet.
// After an error, the stored data is either unchanged or complete, and the next look
// continues from there.
func (w *Witness) Look(ctx context.Context) error {
	if time.Now().Before(w.rest) {
		return nil
	}
	state, err := w.store.HoldLook(ctx)
	if err != nil {
		return err
	}
	if mine := w.version != 0 && state.Version == w.version; !mine {
		if state.Now.Before(state.Due) && !state.ahead() {
			return nil
		}
		if err := w.takeOver(ctx, state); err != nil {
			return err
		}
	}
	kept, err := w.look(ctx, state)
	if err != nil || !kept {
		w.version, w.idle = 0, false // the stored state is unknown here
		return err
	}
	if err := w.sample(ctx, state.Now); err != nil {
		return err
	}
	return w.prune(ctx)
}

// sample stores how much runs, once in every SampleEvery by the database's clock, whether or
// not jobs wait.
func (w *Witness) sample(ctx context.Context, now time.Time) error {
	if begun := now.Truncate(SampleEvery); !begun.Equal(w.sampled) {
		w.sampled = begun
		return w.store.KeepSample(ctx)
	}
	return nil
}

// takeOver reads the stored state.
func (w *Witness) takeOver(ctx context.Context, state LookState) error {
	open, err := w.store.OpenHolds(ctx)
	if err != nil {
		return err
	}
	w.version, w.idle, w.record = 0, false, newRecord(open, state.At)
	return nil
}

// look performs one look and stores the changes. It returns false if another node has
// become the witness.
func (w *Witness) look(ctx context.Context, state LookState) (bool, error) {
	sight, took, err := w.see(ctx)
	if err != nil {
		return false, err
	}
	found := Found{Version: state.Version, Next: state.Version + 1 + rand.Int64N(mostVersionStep), Now: sight.Now, last: state.LastID}
	if state.Blind(sight.Now) {
		nodes, err := w.store.Nodes(ctx)
		if err != nil {
			return false, err
		}
		w.record.miss(&found, state.At, nodes)
	}
	pause := max(w.every, restAfter(took))
	w.record.compare(&found, sight, lostLooks*pause)
	idle := !sight.Waits && w.record.empty()
	if idle && w.idle && pause == w.every && sight.Now.Before(state.At.Add(idleLooks*w.every)) {
		return true, nil // the last look covers this one
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

// see reads the lanes and gates. It schedules a pause if that took long, even after an
// error.
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

// restAfter returns the pause after a look of the given duration.
func restAfter(took time.Duration) time.Duration { return min(restsPerLook*took, mostRest) }

// prune deletes old holds at intervals.
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
