package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// fireChunk is how many schedules one transaction acts upon, so that none takes
// long.
const fireChunk = 200

// firePause is until the next look if schedules became due during a tick, or others
// are busy with some that are: a few come together, and the node does not ask without end.
const firePause = 5 * time.Millisecond

// graceLeases is how many leases late an instant may be acted upon and still be on
// time: as long as others may need to notice that a node is gone.
const graceLeases = 2

// keepFiring makes the runs of schedules that are due, and lets queued ones go.
func (l *life) keepFiring(ctx context.Context) {
	l.firer.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for {
			f := firing{life: l, plans: map[int64]decided{}}
			ticked, err := l.planner.Tick(ctx, fireChunk, f.decide)
			if err != nil {
				return 0, err
			}
			f.tell()
			switch {
			case ticked.Schedules >= fireChunk: // there are more
			case ticked.Next == 0:
				return firePause, nil
			default:
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
		f.life.log.Error("a schedule cannot be read: it makes no runs", "schedule", s.Name, "id", s.ID, "error", err)
		plan.Cursor = schedule.Cursor{} // looking again would not help
	}
	f.plans[s.ID] = decided{plan, v.Now}
	return plan
}

// tell tells the observer of what was made.
func (f *firing) tell() {
	for id, d := range f.plans {
		for _, alert := range d.plan.Alerts {
			f.life.log.Warn("a schedule needs attention: an alert is sent", "schedule", id, "tenant", alert.Tenant)
		}
		for _, fire := range d.plan.Fires {
			f.life.options.Observer.Fired(fire, max(0, d.now.Sub(fire.Due)))
		}
	}
}
