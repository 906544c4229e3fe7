package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	heldQuiet  = time.Second      // how long a job may be held before the log says so
	heldRepeat = 30 * time.Second // between two lines of the log about the same job
	heldNamed  = 5                // jobs that the log names at once
)

// heldWriter writes the ends of runs that the settler could not write: a transaction of a
// caller holds rows of the job, or the store was unavailable for the write that they
// shared although it answered. The transaction may stay open for long, so these runs are
// tried again and again next to the settler, which goes on with the others.
type heldWriter struct {
	life *life
	*backlog
	wake chan struct{}

	mu      sync.Mutex
	parts   []*heldPart
	closing bool // no more will come
	fails   int  // writes in a row that failed; only the loop uses it
}

// heldPart is runs that are tried again at the same time.
type heldPart struct {
	runs     []heldRun
	failed   bool // the write of them all failed, so that they are not written with others
	due      time.Time
	pause    time.Duration // after the next try
	refusals int           // of a store that answers, in a row
	answers  bool          // whether the store answered after the last try
}

// heldRun is one of them.
type heldRun struct {
	ending
	since time.Time
	said  time.Time // when the log named it; zero: not yet
}

func newHeldWriter(l *life) *heldWriter {
	return &heldWriter{life: l, backlog: newBacklog(l), wake: make(chan struct{}, 1)}
}

// hold takes over runs whose jobs a transaction holds.
func (h *heldWriter) hold(batch []ending) { h.take(batch, false) }

// isolate takes over runs whose common write fails again and again, to find the one of
// them that is at fault.
func (h *heldWriter) isolate(batch []ending) { h.take(batch, true) }

func (h *heldWriter) take(batch []ending, failed bool) {
	if len(batch) == 0 {
		return
	}
	now := time.Now()
	part := &heldPart{failed: failed, due: now.Add(settleFirst), pause: 2 * settleFirst}
	for _, e := range batch {
		part.runs = append(part.runs, heldRun{ending: e, since: now})
		h.life.freeSolo(e.run) // nothing of it runs any more, however long it waits
	}
	h.backlog.add(batch...)
	h.put(part)
	h.poke()
}

func (h *heldWriter) put(parts ...*heldPart) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts = append(h.parts, parts...)
}

func (h *heldWriter) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// finish makes run return once all is written, or at the first failure if the lease is
// lost.
func (h *heldWriter) finish() {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.poke()
}

// run writes until all is written after finish, or until ctx ends. It then releases
// what is left, if the lease is valid.
func (h *heldWriter) run(ctx context.Context) {
	for ctx.Err() == nil {
		if !h.life.lease.valid() {
			h.drop(h.takeAll())
		}
		part, wait, closing := h.next(time.Now())
		switch {
		case part != nil:
			h.write(ctx, part)
		case closing && wait < 0:
			return
		default:
			idle(ctx, h.wake, wait)
		}
	}
	for !h.ended() { // the settler may still hand runs over
		<-h.wake
	}
	h.release(ctx, h.takeAll())
}

// ended reports whether no more will come.
func (h *heldWriter) ended() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

func (h *heldWriter) takeAll() (all []ending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range h.parts {
		all = append(all, part.endings()...)
	}
	h.parts = nil
	return all
}

// next takes what is to be written now: the part that is due first, together with the
// others that are due, unless their write failed. If none is due, it returns how long to
// wait, which is negative if there is none at all.
func (h *heldWriter) next(now time.Time) (part *heldPart, wait time.Duration, closing bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.parts) == 0 {
		return nil, -1, h.closing
	}
	slices.SortStableFunc(h.parts, func(a, b *heldPart) int { return a.due.Compare(b.due) })
	if wait := h.parts[0].due.Sub(now); wait > 0 {
		return nil, wait, h.closing
	}
	part, h.parts = h.parts[0], h.parts[1:]
	if part.failed {
		return part, 0, h.closing
	}
	rest := h.parts[:0]
	for _, other := range h.parts {
		if other.failed || other.due.After(now) || len(part.runs)+len(other.runs) > settleBatch {
			rest = append(rest, other)
			continue
		}
		part.runs, part.pause = append(part.runs, other.runs...), max(part.pause, other.pause)
	}
	h.parts = rest
	return part, 0, h.closing
}

func (p *heldPart) endings() []ending {
	endings := make([]ending, len(p.runs))
	for i, r := range p.runs {
		endings[i] = r.ending
	}
	return endings
}

// write tries a part once. What is still held comes again later.
func (h *heldWriter) write(ctx context.Context, part *heldPart) {
	batch := part.endings()
	settled, err := h.life.settleWithin(ctx, batch, h.longest())
	if err != nil {
		h.failed(ctx, part, err)
		return
	}
	h.fails = 0
	var held []heldRun
	for i, r := range part.runs {
		if settled[i] == fairlead.SettledHeld {
			held = append(held, r)
		} else if !r.said.IsZero() {
			h.life.logOf(r.run.job).Info("settlement written: the transaction that held the job has ended", "held_for", time.Since(r.since))
		}
	}
	written, answers, _ := partHeld(batch, settled)
	h.over(written)
	h.life.acknowledge(written, answers)
	if len(held) == 0 {
		return
	}
	h.report(held, "settlement waits: an open transaction holds the job; commit it or roll it back", nil)
	h.put(&heldPart{runs: held, due: time.Now().Add(part.pause), pause: min(2*part.pause, settleSlowest)})
}

// longest returns how long one write may take: beats go on meanwhile, but the answer has
// to come while the lease is valid.
func (h *heldWriter) longest() time.Duration {
	return min(replaceLongest, max(replaceTry, h.life.options.Lease/4))
}

// failed puts a part off whose write failed. If the store works otherwise, one of the runs
// is at fault: the part is halved until that one is alone.
func (h *heldWriter) failed(ctx context.Context, part *heldPart, err error) {
	h.fails++
	answered := part.answers
	part.failed, part.answers = true, h.life.answers(ctx)
	// As for any settlement, only a store that answered before a write and after it has
	// refused it.
	if answered && part.answers && !errors.Is(err, fairlead.ErrUnavailable) {
		part.refusals++
	} else {
		part.refusals = 0
	}
	part.due, part.pause = time.Now().Add(part.pause), min(2*part.pause, settleSlowest)
	h.report(part.runs, "settlement not written yet: the store is unavailable for this write", err)
	switch {
	case len(part.runs) > 1 && part.answers:
		half := len(part.runs) / 2
		other := *part
		part.runs, other.runs = part.runs[:half:half], part.runs[half:]
		h.put(part, &other)
	case part.refusals >= settleTries:
		part.runs[0].settlement = unstorable(part.runs[0].settlement, err)
		part.refusals = 0
		h.put(part)
	default:
		h.put(part)
	}
	// A store that takes nothing is not asked once for each of very many runs.
	_ = sleep(ctx, min(settleFirst<<min(h.fails-1, 10), settleSlowest))
}

// report names some of the jobs in the log that it has not named for a while.
func (h *heldWriter) report(runs []heldRun, message string, err error) {
	now, named, more := time.Now(), 0, 0
	for i := range runs {
		r := &runs[i]
		if now.Sub(r.since) < heldQuiet || now.Sub(r.said) < heldRepeat {
			continue
		}
		r.said = now
		if named++; named > heldNamed {
			more++
			continue
		}
		log := h.life.logOf(r.run.job).With("fence", r.run.job.Fence, "held_for", now.Sub(r.since))
		if err != nil {
			log = log.With("error", err)
		}
		log.Warn(message)
	}
	if more > 0 {
		h.life.log.Warn(message, "more_jobs", more)
	}
}

// idle waits for more to do, or for the given time unless that is negative.
func idle(ctx context.Context, wake <-chan struct{}, wait time.Duration) {
	var due <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-wake:
	case <-due:
	case <-ctx.Done():
	}
}
