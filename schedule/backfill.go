package schedule

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// backfill plans a run of each instant in a span of time that has passed.
func (s *Schedule) backfill(v View, b Backfill) (plan Plan, passedOver int, err error) {
	instants, err := s.instantsOf(v, b)
	if err != nil {
		return Plan{}, 0, err
	}
	return s.fill(v, b, v.Now, instants)
}

// fill plans runs of some instants of a backfill that began at a time. It passes over those
// that have runs, and counts them, unless they are to run again.
func (s *Schedule) fill(v View, b Backfill, began time.Time, instants []time.Time) (plan Plan, passedOver int, err error) {
	if err := s.readable(); err != nil {
		return Plan{}, 0, err
	}
	if !b.Again && v.Recorded == nil {
		return Plan{Ask: instants}, 0, nil
	}
	d := newDecision(s, v)
	d.admit()
	serial := ""
	if b.Serial {
		serial = fmt.Sprintf("backfill of schedule %d at %d", s.ID, began.UnixMicro())
	}
	for _, due := range instants {
		if !b.Again && v.Recorded[stored(due)] {
			passedOver++
			continue
		}
		next := PlannedFire{Due: due, Trigger: TriggerBackfill, Number: 1, Serial: serial, Order: due}
		if b.Newest {
			next.Order = began.Add(-due.Sub(b.From))
		}
		d.add(next, b.Serial) // serial runs do not exceed MaxConcurrency
	}
	return d.plan, passedOver, nil
}

// instantsOf lists the instants in the span of a backfill. It fails with ErrInvalid if there
// are none, or more than MaxBackfill.
func (s *Schedule) instantsOf(v View, b Backfill) ([]time.Time, error) {
	var c complaints
	switch {
	case b.From.IsZero() || b.To.IsZero() || !b.From.Before(b.To):
		c.Refuse("to", "must be after from")
	case b.To.After(v.Now):
		c.Refuse("to", "is in the future; only past fires can be backfilled")
	case s.Delay > 0 || !s.At.IsZero():
		c.Refuse("id", "refers to a schedule that has no past fires; trigger it instead")
	}
	if err := fairlead.Invalid(c.Found...); err != nil {
		return nil, err
	}
	if err := s.readable(); err != nil {
		return nil, err
	}
	timing, err := v.timing(s)
	if err != nil {
		return nil, err
	}
	var instants []time.Time
	for due := timing.Next(b.From.Add(-time.Microsecond)); !due.IsZero() && due.Before(b.To); due = timing.Next(due) {
		if instants = append(instants, due); len(instants) > MaxBackfill {
			c.Refuse("to", "would start more than %d runs; choose a shorter period", MaxBackfill)
			return nil, fairlead.Invalid(c.Found...)
		}
	}
	if len(instants) == 0 {
		c.Refuse("from", "begins a period in which the schedule has no fires; specify a longer period")
	}
	return instants, fairlead.Invalid(c.Found...)
}
