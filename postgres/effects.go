package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// effects are what was done to jobs, for those who have to hear of it once it is committed.
type effects struct {
	lanes  []int32 // where jobs became ready, or may have
	gates  []int64 // where jobs gave back places
	parked bool    // jobs may have been parked, or changed their turn at a gate
	later  bool    // jobs were scheduled
	cancel bool    // running jobs were asked to stop
	freed  bool    // jobs gave back slots of limits
}

// after notes that an action hit a job in a state.
func (e *effects) after(action fairlead.Op, hit fairlead.State, lane int32, gates []int64) {
	e.gates = append(e.gates, gates...)
	switch action {
	case fairlead.OpCancel:
		e.cancel = e.cancel || verdict.Asked(hit)
		e.freed = e.freed || !verdict.Asked(hit) && verdict.HoldsSlots(hit)
	case fairlead.OpReschedule: // whether its time has come only the database knows
		e.later, e.parked, e.lanes = true, true, append(e.lanes, lane)
	case fairlead.OpRunNow, fairlead.OpReopen:
		e.parked, e.lanes = true, append(e.lanes, lane)
	case fairlead.OpSetPriority, fairlead.OpSetQueue:
		e.parked = e.parked || hit == fairlead.Parked
		if hit == fairlead.Ready {
			e.lanes = append(e.lanes, lane)
		}
	}
}

// tell wakes nodes and admits parked jobs.
func (s *Store) tell(ctx context.Context, e *effects) {
	if e.later {
		s.notifier.later()
	}
	if e.cancel {
		s.notifier.cancel()
	}
	if e.freed {
		s.notifier.freed()
	}
	if len(e.lanes) > 0 {
		s.notifier.work(e.lanes...)
	}
	s.admit(ctx, e.gates)
	if e.parked {
		s.admitSoon(ctx)
	}
}
