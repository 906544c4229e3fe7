package server

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
)

// previewed is the default number of previewed instants.
const previewed = 10

// PreviewSchedule returns a schedule's next instants.
func (s *Schedules) PreviewSchedule(ctx context.Context, in *fairleadv1.PreviewScheduleRequest) (*fairleadv1.PreviewScheduleResponse, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return s.preview(ctx, schedule, in.GetN())
}

// PreviewTiming returns the next instants of a schedule described in the request. The
// schedule need not be stored.
func (s *Schedules) PreviewTiming(ctx context.Context, in *fairleadv1.PreviewTimingRequest) (*fairleadv1.PreviewScheduleResponse, error) {
	schedule := schedule.Schedule{
		Name: in.GetName(), Cron: in.GetCron(), Every: in.GetEvery().AsDuration(), Delay: in.GetDelay().AsDuration(), Daily: in.GetDaily(), At: message.TimeOf(in.GetAt()),
		Zone: in.GetTimezone(), StartsAt: message.TimeOf(in.GetStartsAt()), EndsAt: message.TimeOf(in.GetEndsAt()), Jitter: in.GetJitter().AsDuration(), Calendar: in.GetCalendar(),
		Job: fairlead.Job{Kind: "preview"}, // the kind does not matter, but a schedule needs one
	}
	if schedule.Name == "" {
		schedule.Name = "preview"
	}
	return s.preview(ctx, schedule, in.GetN())
}

func (s *Schedules) preview(ctx context.Context, sc schedule.Schedule, n int32) (*fairleadv1.PreviewScheduleResponse, error) {
	if n == 0 {
		n = previewed
	}
	instants, err := s.client.Preview(ctx, sc, int(n))
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(sc.Zone) // UTC if empty
	if err != nil {
		return nil, err
	}
	timing, err := schedule.NewTiming(&sc, nil)
	if err != nil {
		return nil, err
	}
	out := &fairleadv1.PreviewScheduleResponse{Words: timing.Words()}
	if len(instants) == 0 && len(timing.Preview(time.Now(), 1)) > 0 {
		out.Words += fmt.Sprintf("; but never within 8 years: the calendar %q excludes all of it", sc.Calendar)
	}
	for _, due := range instants {
		local := due.In(zone)
		out.Items = append(out.Items, &fairleadv1.Instant{
			Due: message.Time(due), Fire: message.Time(due.Add(timing.Offset())), Local: local.Format("Mon 2006-01-02 15:04:05 MST"), Remark: clockChange(local),
		})
	}
	return out, nil
}

// clockChange describes the clock change on the day of a time, or returns an empty string
// if there is none.
func clockChange(local time.Time) string {
	began, ends := local.ZoneBounds()
	for _, change := range []time.Time{began, ends} {
		if change.IsZero() || change.Format(time.DateOnly) != local.Format(time.DateOnly) {
			continue
		}
		before := change.Add(-time.Second)
		_, from := before.Zone()
		_, to := change.Zone()
		shift := time.Duration(to-from) * time.Second
		if shift == 0 {
			continue // only the abbreviation of the zone changes
		}
		way := "forward"
		if shift < 0 {
			way, shift = "back", -shift
		}
		// Local time of the change according to the old offset.
		at := change.In(time.FixedZone("", from)).Format("15:04")
		return fmt.Sprintf("clocks go %s by %s at %s on this day", way, shortSpan(shift), at)
	}
	return ""
}

// shortSpan formats hours and minutes without trailing zeros.
func shortSpan(d time.Duration) string {
	hours, minutes := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case minutes == 0:
		return fmt.Sprintf("%dh", hours)
	case hours == 0:
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%dh%dm", hours, minutes)
}
