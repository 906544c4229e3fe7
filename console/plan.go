package console

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/schedule"
)

// plan is when a schedule is due, read from what the API says of it: what is computed
// from it costs no further calls.
type plan struct {
	*fairleadv1.Schedule
	own    schedule.Schedule
	timing *schedule.Timing
	zone   *time.Location
	every  time.Duration // between two instants; zero: it is no interval
	hourly bool          // each hour in which it is due has the same minutes: it is a cron expression
}

var errUntimed = errors.New("no timing is set")

// withoutArgs is a schedule without what its jobs are given, which may be large: plans are
// kept for a while.
func withoutArgs(s *fairleadv1.Schedule) *fairleadv1.Schedule {
	kept := proto.CloneOf(s)
	if kept.GetJob() != nil {
		kept.Job.Args = nil
	}
	return kept
}

// planOf reads a schedule. It fails for one that is not readable here, as in a zone that
// this machine does not know.
func planOf(s *fairleadv1.Schedule, calendar *fairleadv1.Calendar) (*plan, error) {
	p := &plan{Schedule: withoutArgs(s), own: schedule.Schedule{
		Name: s.GetName(), Cron: s.GetCron(), Every: span(s.GetEvery()), Delay: span(s.GetDelay()), Daily: s.GetDaily(), At: moment(s.GetAt()),
		Zone: s.GetTimezone(), StartsAt: moment(s.GetStartsAt()), EndsAt: moment(s.GetEndsAt()), Jitter: span(s.GetJitter()), Calendar: s.GetCalendar(),
		CreatedAt: moment(s.GetCreatedAt()),
	}}
	if timingText(s) == "" {
		return nil, errUntimed
	}
	var stored *schedule.Calendar
	if calendar != nil {
		stored = new(calendarOf(calendar))
	}
	var err error
	if p.timing, err = schedule.NewTiming(&p.own, stored); err != nil {
		return nil, err
	}
	if p.zone, err = time.LoadLocation(p.own.Zone); err != nil {
		return nil, err
	}
	p.every = p.own.Every
	if p.own.Cron != "" {
		expr, err := cron.Parse(p.own.Cron)
		if err != nil {
			return nil, err
		}
		p.every = expr.Interval()
		p.hourly = p.every == 0
	}
	return p, nil
}

// calendarOf is a calendar of the API as the package schedule knows it.
func calendarOf(in *fairleadv1.Calendar) schedule.Calendar {
	out := schedule.Calendar{Name: in.GetName(), Dates: in.GetDates(), Version: in.GetVersion()}
	days := exclusionsOf(in)
	for day := time.Sunday; day <= time.Saturday; day++ {
		if days.weekdays[day] {
			out.Weekdays = append(out.Weekdays, day)
		}
	}
	for _, r := range in.GetRanges() {
		out.Ranges = append(out.Ranges, schedule.DateRange{From: r.GetFrom(), To: r.GetTo()})
	}
	return out
}

// unforeseeable reports whether only the next instant is known: the schedule is due once,
// or after the end of each run.
func (p *plan) unforeseeable() bool { return p.own.Delay > 0 || !p.own.At.IsZero() }

// timingText is when a schedule is due, as it was written; empty: it cannot be read.
func timingText(s *fairleadv1.Schedule) string {
	switch {
	case s.GetCron() != "":
		return s.GetCron()
	case s.GetDaily() != "":
		return "daily " + s.GetDaily()
	case s.GetEvery() != nil:
		return "every " + shortDuration(span(s.GetEvery()))
	case s.GetDelay() != nil:
		return "delay " + shortDuration(span(s.GetDelay()))
	case s.GetAt() != nil:
		return "at " + s.GetAt().AsTime().Format(time.RFC3339)
	}
	return ""
}

// wordsOf says in plain English when a schedule is due, as the API's preview does; empty:
// it cannot be read.
func wordsOf(s *fairleadv1.Schedule) string {
	p, err := planOf(s, nil)
	if err != nil {
		return ""
	}
	return p.timing.Words()
}

// InZone writes what clocks of a zone show at a moment; empty if that is the viewer's own
// zone, in which it is written anyway.
func (v *visit) InZone(value any, name string) string {
	at := moment(value)
	zone, err := time.LoadLocation(name)
	if err != nil || at.IsZero() || zone.String() == v.Zone.String() {
		return ""
	}
	return at.In(zone).Format("01-02 15:04:05") + " " + zone.String()
}

// clockChange is the remark of the API on a day on which clocks are changed, in the
// viewer's language.
func (v *visit) clockChange(remark string) string {
	var way, shift, at string
	if _, err := fmt.Sscanf(remark, "clocks go %s by %s at %s on this day", &way, &shift, &at); err != nil {
		return remark
	}
	if strings.HasPrefix(way, "back") {
		return v.T("clocks go back by %s at %s on this day", shift, at)
	}
	return v.T("clocks go forward by %s at %s on this day", shift, at)
}
