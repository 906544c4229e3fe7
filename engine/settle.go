package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

const (
	settleBatch  = 1000                  // settlements per write, at most
	settleEnough = 300                   // makes a write worthwhile when many are coming
	settleLinger = 15 * time.Millisecond // how long to wait for that many
	settleMany   = 20                    // a write of so many says that many are coming
	settleTries  = 5                     // writes that a working store refuses, or is unavailable for, before the settlements are parted

	settleFirst   = 20 * time.Millisecond // pause after the first failure; it doubles
	settleSlowest = time.Second
)

// ending is a run that is over and what becomes of its job.
type ending struct {
	run        *run
	err        error // what the handler returned
	took       time.Duration
	settlement fairlead.Settlement
}

// settler writes settlements, many at a time and one write after the other. A
// run counts as ended only when the store has acknowledged it; a write whose
// outcome is unknown is repeated, which the store allows.
type settler struct {
	life *life
	wake chan struct{}

	mu      sync.Mutex
	pending []ending
	writing int  // handed to the write under way
	closing bool // no more will come
}

func newSettler(l *life) *settler { return &settler{life: l, wake: make(chan struct{}, 1)} }

func (s *settler) add(e ending) {
	s.mu.Lock()
	s.pending = append(s.pending, e)
	n := len(s.pending)
	s.mu.Unlock()
	if n == 1 || n == settleEnough {
		s.poke()
	}
}

func (s *settler) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// settles hands a run that is over to the settler that writes its like. A key may be
// in the hands of a transaction of a caller, which can be open for long: what waits
// for that must not hold up the others.
func (l *life) settles(e ending) {
	if next := e.settlement.Replace; next != nil && next.Key != "" {
		l.replacer.add(e)
		return
	}
	l.settler.add(e)
}

// unsaved is how many ended runs the store has not acknowledged yet.
func (l *life) unsaved() int { return l.settler.unsaved() + l.held.size() + l.replacer.size() }

// unsaved is how many of its runs the store has not acknowledged yet.
func (s *settler) unsaved() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) + s.writing
}

// finish makes run return once all is written, or at the first failure if the
// lease is lost.
func (s *settler) finish() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.poke()
}

func (s *settler) run(ctx context.Context) {
	last := 0
	for {
		batch, closing := s.take(last)
		if len(batch) == 0 {
			if closing {
				return
			}
			last = 0
			<-s.wake
			continue
		}
		s.write(ctx, batch)
		last = len(batch)
	}
}

// take returns what is to be written next. If the last write was large more
// is probably about to come: a moment's wait makes this one large too.
func (s *settler) take(last int) ([]ending, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last >= settleMany && len(s.pending) < settleEnough && !s.closing {
		s.mu.Unlock()
		s.linger()
		s.mu.Lock()
	}
	n := min(len(s.pending), settleBatch)
	batch := s.pending[:n:n]
	s.pending = s.pending[n:]
	if len(s.pending) == 0 {
		s.pending = nil
	}
	s.writing = n
	return batch, s.closing
}

func (s *settler) linger() {
	timer := time.NewTimer(settleLinger)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-s.wake:
			s.mu.Lock()
			enough := len(s.pending) >= settleEnough || s.closing
			s.mu.Unlock()
			if enough {
				return
			}
		}
	}
}

// write insists until the store has answered. It gives up only when the lease
// is gone: then the jobs belong to others. What the store cannot write because a
// transaction of a caller holds it is left to the heldWriter.
func (s *settler) write(ctx context.Context, batch []ending) {
	pause := settleFirst
	refusals, absences, answers := 0, 0, false
	for {
		settled, err := s.life.settleOnce(ctx, batch)
		if err == nil {
			written, answers, held := partHeld(batch, settled)
			s.life.held.hold(held)
			s.done(written)
			s.life.acknowledge(written, answers)
			return
		}
		s.life.log.Warn("settlements not written yet", "jobs", len(batch), "error", err, "retry_in", pause)
		if !s.life.lease.valid() || sleep(ctx, pause) != nil {
			s.life.log.Warn("settlements dropped: their leases are lost", "jobs", len(batch))
			s.done(batch)
			return
		}
		pause = min(2*pause, settleSlowest)
		// Only a store that answered before a write and after it has refused it:
		// else it may have been out of reach, and be back just now. One that says that
		// it is unavailable refuses nothing: it may answer questions, and be full or
		// read-only.
		answered := answers
		answers = s.life.answers(ctx)
		switch works := answered && answers; {
		case works && errors.Is(err, fairlead.ErrUnavailable):
			refusals, absences = 0, absences+1
		case works:
			refusals, absences = refusals+1, 0
		default:
			refusals, absences = 0, 0
		}
		switch {
		case absences >= settleTries:
			// The store may be unavailable for one of them alone: the others, and those
			// that came since, must not wait for that one.
			s.life.log.Warn("splitting a batch of settlements: the store answers, but is unavailable for this write", "jobs", len(batch), "error", err)
			s.life.held.isolate(batch)
			s.done(nil)
			return
		case refusals < settleTries:
			continue
		}
		// The store works but does not take this: one of them must be at fault.
		if len(batch) > 1 {
			for _, e := range batch {
				s.write(ctx, []ending{e})
			}
			return
		}
		batch[0].settlement = unstorable(batch[0].settlement, err)
	}
}

// settleOnce writes once.
func (l *life) settleOnce(ctx context.Context, batch []ending) ([]fairlead.Settled, error) {
	settlements := make([]fairlead.Settlement, len(batch))
	for i, e := range batch {
		settlements[i] = e.settlement
	}
	l.unattended.attend(settlements)
	begin := time.Now()
	settled, err := l.store.Settle(ctx, settlements)
	l.options.Observer.Flushed(len(batch), time.Since(begin), err)
	return settled, err
}

// settleWithin writes once. An answer that does not come in time is ErrUnavailable: the
// write may have happened, and is repeated, which the store allows.
func (l *life) settleWithin(ctx context.Context, batch []ending, try time.Duration) ([]fairlead.Settled, error) {
	bounded, cancel := context.WithTimeout(ctx, try)
	defer cancel()
	settled, err := l.settleOnce(bounded, batch)
	if err != nil && bounded.Err() != nil {
		err = errors.Join(fairlead.ErrUnavailable, err)
	}
	return settled, err
}

// partHeld parts runs into those that are settled, with their answers, and those whose
// jobs a transaction holds.
func partHeld(batch []ending, settled []fairlead.Settled) (written []ending, answers []fairlead.Settled, held []ending) {
	if !slices.Contains(settled, fairlead.SettledHeld) {
		return batch, settled, nil
	}
	for i, e := range batch {
		if settled[i] == fairlead.SettledHeld {
			held = append(held, e)
		} else {
			written, answers = append(written, e), append(answers, settled[i])
		}
	}
	return written, answers, held
}

// answers reports whether the store does anything at all.
func (l *life) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, replaceLongest)
	defer cancel()
	_, err := l.store.Now(ctx)
	return err == nil
}

// unstorable is what becomes of a job whose settlement the store refuses again
// and again: it must not hold up the others, nor be lost.
func unstorable(s fairlead.Settlement, err error) fairlead.Settlement {
	return fairlead.Settlement{
		ID: s.ID, Fence: s.Fence, Move: fairlead.Fail, FreeKey: s.FreeKey,
		Reason: fairlead.ReasonFatal, Error: "the result of the run could not be stored: " + err.Error(),
	}
}

// done ends a write. The runs of batch are over.
func (s *settler) done(batch []ending) {
	s.mu.Lock()
	s.writing = 0
	s.mu.Unlock()
	s.life.over(batch)
}

// over forgets runs that are settled or lost.
func (l *life) over(batch []ending) {
	runs := make([]*run, len(batch))
	for i, e := range batch {
		runs[i] = e.run
	}
	l.forget(runs)
	for _, g := range l.groups {
		g.settledSome()
	}
}

// ended makes the node look at the schedules, batches and sweeps of jobs that have ended.
func (l *life) ended(jobs []*fairlead.Job) {
	if slices.ContainsFunc(jobs, func(job *fairlead.Job) bool { return job.Fired }) {
		l.firer.poke() // its schedule may have others queued
	}
	if l.batches != nil {
		l.batches.ended(jobs)
	}
	if l.steerer != nil {
		l.steerer.ended(jobs)
	}
}

// endedJobs returns the jobs of runs that have ended, without released shards: another node soon
// takes these up, and has its share of the rate at once unless other shards have been given it
// before.
func endedJobs(batch []ending) []*fairlead.Job {
	jobs := make([]*fairlead.Job, 0, len(batch))
	for _, e := range batch {
		if e.settlement.Move != fairlead.MoveRelease || sweep.Of(e.run.job) == 0 {
			jobs = append(jobs, e.run.job)
		}
	}
	return jobs
}

// acknowledge passes on what the store made of ended runs.
func (l *life) acknowledge(batch []ending, settled []fairlead.Settled) {
	l.ended(endedJobs(batch))
	var failures []failure
	for i, e := range batch {
		l.options.Observer.Ended(e.run.job, e.settlement, settled[i], e.took)
		switch {
		case settled[i] == fairlead.SettledLost:
			l.logOf(e.run.job).Warn("late result rejected: the job was reclaimed or had already succeeded", "fence", e.run.job.Fence)
		case settled[i] == fairlead.SettledAsAsked && e.settlement.Move == fairlead.Again:
			l.logFailure(e)
		case settled[i] == fairlead.SettledAsAsked && e.settlement.Move == fairlead.Fail:
			l.logFailure(e)
			failures = append(failures, failure{job: e.run.job, options: &e.run.entry.Options, err: e.err})
		}
	}
	l.announce(failures)
}
