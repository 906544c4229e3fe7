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

// plan contains the timing of a schedule, based on its API form, so that instants can be
// computed without further calls.
type plan struct {
	*fairleadv1.Schedule
	own    schedule.Schedule
	timing *schedule.Timing
	zone   *time.Location
	every  time.Duration // interval between instants; zero = not an interval
	hourly bool          // whether each hour with instants has the same minutes, because it is a cron expression
}

var errUntimed = errors.New("no timing is set")

// withoutArgs returns a schedule without the args of its job, which may be large, because
// plans are cached.
func withoutArgs(s *fairleadv1.Schedule) *fairleadv1.Schedule {
	kept := proto.CloneOf(s)
	if kept.GetJob() != nil {
		kept.Job.Args = nil
	}
	return kept
}

// planOf parses a schedule. It fails if the schedule cannot be interpreted here, for
// example because this machine does not know its time zone.
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

// calendarOf converts a calendar of the API to one of package schedule.
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

// unforeseeable reports whether only the next instant is known, because the schedule is due
// once, or after the end of each run.
func (p *plan) unforeseeable() bool { return p.own.Delay > 0 || !p.own.At.IsZero() }

// timingText returns the timing of a schedule as written, or an empty string if it cannot
// be read.
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

// wordsOf describes the timing of a schedule in English, like the API's preview. It returns
// an empty string if the timing cannot be read.
func wordsOf(s *fairleadv1.Schedule) string {
	p, err := planOf(s, nil)
	if err != nil {
		return ""
	}
	return p.timing.Words()
}

// InZone formats a time in a zone, or returns an empty string if that is the viewer's own
// zone, in which the time is shown anyway.
func (v *visit) InZone(value any, name string) string {
	at := moment(value)
	zone, err := time.LoadLocation(name)
	if err != nil || at.IsZero() || zone.String() == v.Zone.String() {
		return ""
	}
	return at.In(zone).Format("01-02 15:04:05") + " " + zone.String()
}

// clockChange translates the API's note on a clock change to the viewer's language.
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
