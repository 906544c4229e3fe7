package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// fireChunk is how many schedules one transaction acts upon, so that none takes
// long.
const fireChunk = 500

// Pauses until the next look if schedules became due during a tick, or other nodes hold some
// that are. While looks find nothing to act upon, the pause doubles: on a busy machine the node
// that holds them needs the database more than those that wait for it.
const (
	firePause        = 5 * time.Millisecond
	longestFirePause = 160 * time.Millisecond
)

// fireRest is how long the loop rests after a tick that acted upon schedules. A tick for
// many schedules costs little more than for one, so those that become due, or whose runs
// end, meanwhile come together. Schedules that are seldom due are not late: the loop has
// rested long before. The rest does not grow with what a tick takes: ticks that act upon
// more take longer, and a busy machine would be later and later.
const fireRest = 40 * time.Millisecond

// graceLeases is how many leases late an instant may be acted upon and still be on
// time: as long as others may need to notice that a node is gone.
const graceLeases = 2

// keepFiring makes the runs of schedules that are due, and lets queued ones go.
func (l *life) keepFiring(ctx context.Context) {
	var rested time.Time // when the loop has rested from the last tick
	pause := firePause
	l.firer.run(ctx, func(ctx context.Context) (time.Duration, error) {
		if err := sleep(ctx, time.Until(rested)); err != nil {
			return 0, err
		}
		for {
			f := firing{life: l, plans: map[int64]decided{}}
			ticked, err := l.planner.Tick(ctx, fireChunk, f.decide)
			if err != nil {
				return 0, err
			}
			f.wait(ticked.Waiting)
			f.tell()
			if ticked.Schedules > 0 {
				rested = time.Now().Add(fireRest)
			}
			switch {
			case ticked.Schedules >= fireChunk: // there are more
			case ticked.Next == 0 && ticked.Schedules == 0:
				wait := pause
				pause = min(2*pause, longestFirePause)
				return wait, nil
			case ticked.Next == 0:
				pause = firePause
				return pause, nil
			default:
				pause = firePause
				return ticked.Next, nil
			}
		}
	})
}

// firing is one tick. A decision may be made again: the last one counts.
type firing struct {
	life  *life
	plans map[int64]decided
}

type decided struct {
	plan schedule.Plan
	now  time.Time
}

func (f *firing) decide(s schedule.Schedule, v schedule.View) schedule.Plan {
	plan, err := s.Decide(v, graceLeases*f.life.options.Lease)
	if err != nil {
		f.life.log.Error("schedule cannot be read: no runs are started", "schedule", s.Name, "id", s.ID, "error", err)
		plan.Cursor = schedule.Cursor{} // looking again would not help
	}
	f.plans[s.ID] = decided{plan, v.Now}
	return plan
}

// waitSaid is after how many tries a schedule that waits for another transaction is logged. The
// store's own transactions end sooner.
const waitSaid = 5

// waitRepeated is after how many further tries it is logged again: about a minute if few
// schedules wait.
const waitRepeated = 240

// wait forgets the plans of schedules that were left as they were, and logs those that have
// waited for a while.
func (f *firing) wait(waiting []schedule.Waiting) {
	for _, w := range waiting {
		delete(f.plans, w.Schedule)
		if w.Tries%waitRepeated == waitSaid {
			f.life.log.Warn("schedule blocked: an open transaction holds its unique key or an earlier run; commit it or roll it back",
				"schedule", w.Name, "id", w.Schedule, "key", w.Key, "runs", w.Runs, "tries", w.Tries)
		}
	}
}

// tell tells the observer of what was made.
func (f *firing) tell() {
	for id, d := range f.plans {
		for _, alert := range d.plan.Alerts {
			f.life.log.Warn("schedule needs attention: sending an alert", "schedule", id, "tenant", alert.Tenant)
		}
		for _, fire := range d.plan.Fires {
			f.life.options.Observer.Fired(fire, max(0, d.now.Sub(fire.Due)))
		}
	}
}
