package sqlstore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// HeldUp remembers the schedules that need a key or a run which another transaction holds. A
// caller may keep its transaction open for long, so ticks leave these schedules out and try each
// of them alone: they hold up no other schedule. It is kept in memory. Each process finds out for
// itself, and a schedule stays due in the database until its runs are made.
type HeldUp struct {
	mu        sync.Mutex
	schedules map[int64]*heldUp
}

type heldUp struct {
	tries  int // alone, in a row, that failed
	missed int // tries, in a row, for which another process had taken the schedule
	again  time.Time
}

// mostMissed is after how many misses a schedule is taken up again: if it was removed, no
// process holds it.
const mostMissed = 300

// Pauses between two tries of a schedule. While few schedules are held up, none pauses for
// long: the one that is tried in vain may have met another node's short transaction, not a
// caller's. Many schedules share the time that a tick has for them.
const (
	firstHeldPause   = 100 * time.Millisecond
	fewHeldPause     = 250 * time.Millisecond
	pausePerHeld     = 10 * time.Millisecond
	longestHeldPause = 2 * time.Second
)

// heldPause returns the pause after a schedule was tried in vain, while so many are held up.
func heldPause(tries, held int) time.Duration {
	longest := min(max(fewHeldPause, time.Duration(held)*pausePerHeld), longestHeldPause)
	return min(firstHeldPause<<min(tries, 10), longest)
}

// heldShare is how long one tick tries schedules alone before it acts upon all others. The last
// try may exceed it.
const heldShare = 200 * time.Millisecond

// batchTries is how often one tick takes schedules together. Each try that fails leaves out
// more of them.
const batchTries = 3

// LockedError is the error of a transaction that has waited too long for what another one
// holds. Waiting names the schedules that may have been the ones to wait; it is empty if another
// process had taken the only one. It is not repeated as other failures of locks are.
type LockedError struct {
	Waiting []schedule.Waiting
	Cause   string
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%d schedules may wait for another transaction: %s", len(e.Waiting), e.Cause)
}

// Locked returns the LockedError of a failed transaction, or its error as it is if it took no
// schedule. If it failed before it had plans, any schedule may have to wait.
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

// HeldTurn is a part of a tick that is one transaction: it acts upon one schedule alone, or if
// that is zero upon all that are due, but not upon those that are held up.
type HeldTurn func(alone int64, heldUp []int64) (schedule.Ticked, error)

// Tick runs a tick: the schedules that are held up and to be tried now, each alone, and then all
// others.
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

// tryOne tries a schedule alone.
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
		h.miss(id) // the next tick begins with another one
		return schedule.Ticked{}, err
	}
	h.release(id)
	return ticked, nil
}

// tryOthers acts upon all schedules that are not held up. If one of them turns out to be, those
// that may be the one are tried alone from then on.
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

// suspect leaves schedules out of ticks. They are tried alone, and soon.
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

// hold notes that schedules were tried alone and have to wait, and returns them with the number
// of their tries.
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

// miss notes that another process has taken a schedule.
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

// release takes a schedule up again.
func (h *HeldUp) release(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.schedules, id)
}

// next returns the schedule that has waited longest for its next try, zero if it is time for
// none.
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

// ids returns the schedules that are held up, in order; never nil.
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

// wait returns how long it is until the next try, negative if nothing is held up.
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
