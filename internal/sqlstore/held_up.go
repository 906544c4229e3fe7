package sqlstore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// HeldUp tracks schedules that need a key or a run that another transaction has locked. A
// caller may keep its transaction open for a long time. Ticks therefore exclude these
// schedules and try each of them separately, so they delay no other schedule. HeldUp lives in
// memory, and each process detects blocked schedules itself. In the database, a schedule stays
// due until its runs are created.
type HeldUp struct {
	mu        sync.Mutex
	schedules map[int64]*heldUp
}

type heldUp struct {
	tries  int // consecutive failed tries alone
	missed int // consecutive tries for which another process had locked the schedule
	again  time.Time
}

// mostMissed is the number of misses after which a schedule is no longer held up: if it was
// removed, no process holds it.
const mostMissed = 300

// Pauses between two tries of a schedule. While few schedules are held up, the pauses stay
// short: a failed try may have met another node's short transaction rather than a caller's.
// Many schedules share the time that a tick has for them.
const (
	firstHeldPause   = 100 * time.Millisecond
	fewHeldPause     = 250 * time.Millisecond
	pausePerHeld     = 10 * time.Millisecond
	longestHeldPause = 2 * time.Second
)

// heldPause returns the pause after a failed try of a schedule while held schedules are
// held up.
func heldPause(tries, held int) time.Duration {
	longest := min(max(fewHeldPause, time.Duration(held)*pausePerHeld), longestHeldPause)
	return min(firstHeldPause<<min(tries, 10), longest)
}

// heldShare is how long one tick tries schedules separately before it processes all others.
// The last try may exceed it.
const heldShare = 200 * time.Millisecond

// batchTries is the number of times one tick tries to process schedules together. Each
// failed try excludes more schedules.
const batchTries = 3

// LockedError is returned by a transaction that waited too long for another transaction's
// lock. Waiting lists the schedules that may be blocked. It is empty if the transaction tried
// a single schedule and another process had locked it. Unlike other lock failures, a
// LockedError is not retried.
type LockedError struct {
	Waiting []schedule.Waiting
	Cause   string
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%d schedules may wait for another transaction: %s", len(e.Waiting), e.Cause)
}

// Locked converts a failed transaction's error to a LockedError. taken lists the schedules
// that the transaction had locked. If it is empty, Locked returns err unchanged. If the
// transaction failed before planning, any of these schedules may be blocked.
func Locked(err error, outcome schedule.Outcome, taken []int64) error {
	waiting := outcome.Waiting
	if len(waiting) == 0 {
		for _, id := range taken {
			waiting = append(waiting, schedule.Waiting{Schedule: id})
		}
	}
	if len(waiting) == 0 {
		return err
	}
	return &LockedError{Waiting: waiting, Cause: err.Error()}
}

// HeldTurn performs one transaction of a tick. If alone is not 0, it processes only the
// schedule with that ID. Otherwise, it processes all due schedules except those in heldUp.
type HeldTurn func(alone int64, heldUp []int64) (schedule.Ticked, error)

// Tick performs a tick. It first tries each held-up schedule whose next try is due, one at a
// time, and then processes all other schedules.
func (h *HeldUp) Tick(turn HeldTurn) (schedule.Ticked, error) {
	var alone schedule.Ticked
	var failed error
	for begun := time.Now(); failed == nil && time.Since(begun) < heldShare; {
		id := h.next()
		if id == 0 {
			break
		}
		var one schedule.Ticked
		one, failed = h.tryOne(turn, id)
		alone.Schedules += one.Schedules
		alone.Runs += one.Runs
		alone.Waiting = append(alone.Waiting, one.Waiting...)
	}
	ticked, err := h.tryOthers(turn)
	if err = errors.Join(failed, err); err != nil {
		return schedule.Ticked{}, err
	}
	ticked.Schedules += alone.Schedules
	ticked.Runs += alone.Runs
	ticked.Waiting = append(alone.Waiting, ticked.Waiting...)
	if wait := h.wait(); wait >= 0 && (ticked.Next < 0 || wait < ticked.Next) {
		ticked.Next = wait
	}
	return ticked, nil
}

// tryOne tries a schedule separately.
func (h *HeldUp) tryOne(turn HeldTurn, id int64) (schedule.Ticked, error) {
	ticked, err := turn(id, nil)
	var locked *LockedError
	switch {
	case errors.As(err, &locked) && len(locked.Waiting) == 0:
		h.miss(id)
		return schedule.Ticked{}, nil
	case errors.As(err, &locked):
		return schedule.Ticked{Waiting: h.hold(locked.Waiting)}, nil
	case err != nil:
		h.miss(id) // the next tick begins with another schedule
		return schedule.Ticked{}, err
	}
	h.release(id)
	return ticked, nil
}

// tryOthers processes all schedules that are not held up. If one of them turns out to be
// blocked, the candidates are tried separately from then on.
func (h *HeldUp) tryOthers(turn HeldTurn) (schedule.Ticked, error) {
	var waiting []schedule.Waiting
	for try := 1; ; try++ {
		ticked, err := turn(0, h.ids())
		var locked *LockedError
		if !errors.As(err, &locked) {
			ticked.Waiting = waiting
			return ticked, err
		}
		h.suspect(locked.Waiting)
		waiting = append(waiting, locked.Waiting...)
		if try == batchTries {
			return schedule.Ticked{Waiting: waiting}, nil
		}
	}
}

// suspect excludes schedules from ticks. Each is soon tried separately.
func (h *HeldUp) suspect(waiting []schedule.Waiting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.schedules == nil {
		h.schedules = map[int64]*heldUp{}
	}
	for _, w := range waiting {
		h.schedules[w.Schedule] = &heldUp{again: time.Now()}
	}
}

// hold records that schedules were tried separately and are still blocked, and returns them
// with the number of their tries.
func (h *HeldUp) hold(waiting []schedule.Waiting) []schedule.Waiting {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range waiting {
		held := h.schedules[waiting[i].Schedule]
		if held == nil {
			continue // another tick of this process was faster
		}
		pause := heldPause(held.tries, len(h.schedules))
		held.tries, held.missed = held.tries+1, 0
		held.again = time.Now().Add(pause)
		waiting[i].Tries = held.tries
	}
	return waiting
}

// miss records that another process has locked a schedule.
func (h *HeldUp) miss(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.schedules[id]
	switch {
	case held == nil:
	case held.missed == mostMissed:
		delete(h.schedules, id)
	default:
		held.missed++
		held.again = time.Now().Add(firstHeldPause)
	}
}

// release returns a schedule to the normal ticks.
func (h *HeldUp) release(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.schedules, id)
}

// next returns the schedule whose next try has been due for the longest time, or 0 if no
// try is due.
func (h *HeldUp) next() (id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for candidate, held := range h.schedules {
		if !held.again.After(now) && (id == 0 || held.again.Before(h.schedules[id].again)) {
			id = candidate
		}
	}
	return id
}

// ids returns the sorted IDs of the held-up schedules. It never returns nil.
func (h *HeldUp) ids() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]int64, 0, len(h.schedules))
	for id := range h.schedules {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// wait returns the time until the next try, or a negative duration if no schedule is held
// up.
func (h *HeldUp) wait() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := time.Duration(-1)
	for _, held := range h.schedules {
		if until := max(0, time.Until(held.again)); wait < 0 || until < wait {
			wait = until
		}
	}
	return wait
}
