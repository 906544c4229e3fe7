package schedule

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// backfill plans a run of each instant in a span of time that has passed.
func (s *Schedule) backfill(v View, b Backfill) (Plan, error) {
	var c complaints
	switch {
	case b.From.IsZero() || b.To.IsZero() || !b.From.Before(b.To):
		c.Refuse("to", "must be after from")
	case b.To.After(v.Now):
		c.Refuse("to", "is still to come; only what has passed can be filled in")
	case s.Delay > 0 || !s.At.IsZero():
		c.Refuse("id", "is a schedule without instants that have passed; trigger it instead")
	}
	if err := fairlead.Invalid(c.Found...); err != nil {
		return Plan{}, err
	}
	if err := s.readable(); err != nil {
		return Plan{}, err
	}
	timing, err := NewTiming(s, v.Calendar)
	if err != nil {
		return Plan{}, err
	}
	d := newDecision(s, v)
	d.admit()
	serial := ""
	if b.Serial {
		serial = fmt.Sprintf("backfill of schedule %d at %d", s.ID, v.Now.UnixMicro())
	}
	made := 0
	for due := timing.Next(b.From.Add(-time.Microsecond)); !due.IsZero() && due.Before(b.To); due = timing.Next(due) {
		if made++; made > MaxBackfill {
			c.Refuse("to", "makes more than %d runs; choose a shorter span", MaxBackfill)
			return Plan{}, fairlead.Invalid(c.Found...)
		}
		next := PlannedFire{Due: due, Trigger: TriggerBackfill, Number: 1, Serial: serial, Order: due}
		if b.Newest {
			next.Order = v.Now.Add(-due.Sub(b.From))
		}
		d.add(next, b.Serial) // those that wait for each other are not too many
	}
	if made == 0 {
		c.Refuse("from", "and to have no instant of the schedule between them")
		return Plan{}, fairlead.Invalid(c.Found...)
	}
	return d.plan, nil
}
