package batch_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

// While many tasks end, how many run is counted now and then by the process that acts upon the
// batch, and those who look at it are told that.
func TestRunningTasksAreCountedOnceForAllWhileManyEnd(t *testing.T) {
	m := newMoving(t)
	b := m.create(600)
	tally := func() batch.Tally {
		t.Helper()
		b, err := m.batches.Get(t.Context(), b.ID)
		m.ok(err)
		return b.Tally
	}
	jobs := m.start(400)
	m.succeed(jobs[:99]...)
	m.look(b.ID)
	m.succeed(jobs[99])
	m.equal("what is seen while few end", tally(), batch.Tally{Success: 99, Running: 300, Pending: 201})

	m.succeed(jobs[100:200]...)
	m.look(b.ID)
	m.succeed(jobs[200:210]...)
	m.equal("what is seen while many end", tally(), batch.Tally{Success: 200, Running: 200, Pending: 200})
	m.succeed(jobs[210:310]...)
	m.look(b.ID)
	m.equal("what is seen right after", tally(), batch.Tally{Success: 310, Running: 200, Pending: 90})

	m.clock.Advance(batch.SeenFor / 2)
	m.look(b.ID)
	m.equal("what is seen when none ends", tally(), batch.Tally{Success: 310, Running: 200, Pending: 90})
	m.clock.Advance(batch.SeenFor/2 + time.Millisecond)
	m.equal("what is seen after a second", tally(), batch.Tally{Success: 310, Running: 90, Pending: 200})
	m.succeed(jobs[310:]...)
	m.finish(b.ID)
	m.equal("what is seen in the end", tally(), batch.Tally{Success: 600})
}

func TestACountIsNotToldAfterTheClockWasSetBack(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]bool{
		{}:                                 false,
		now:                                true,
		now.Add(time.Microsecond):          false,
		now.Add(time.Hour):                 false,
		now.Add(1 - batch.SeenFor):         true,
		now.Add(-batch.SeenFor):            false,
		now.Add(-time.Hour * 24 * 365 * 9): false,
	} {
		if seen := (batch.Seen{At: at}); seen.Told(now) != want {
			t.Errorf("what was counted at %v is told at %v: %v", at, now, !want)
		}
	}
}
