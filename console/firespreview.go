package console

import (
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// firesPreviewed is the number of instants shown while the user types.
const firesPreviewed = 10

// firesPreview contains the due instants of a schedule with the current input.
type firesPreview struct {
	Words string
	Zone  string
	Fires []comingFire
	Only  bool   // whether later instants depend on the runs
	Why   string // reason why nothing can be shown; empty = valid
}

// Late reports whether the schedule's part of the jitter delays its fires.
func (p *firesPreview) Late() bool {
	return len(p.Fires) > 0 && !p.Fires[0].GetFire().AsTime().Equal(p.Fires[0].GetDue().AsTime())
}

// loadFiresPreview returns the due instants of the schedule with the current input, or as
// stored.
func loadFiresPreview(v *visit) (any, error) {
	s, err := v.editedSchedule()
	if err != nil {
		return nil, err
	}
	s = proto.CloneOf(s) // the response may be shared with other viewers
	name := s.GetName()
	if v.posted != nil {
		f := &scheduleFields{parameters: v.fields(), stored: s.GetId() != ""}
		f.when(s)
		if name = f.text("name"); f.err() != nil {
			return nil, f.err()
		}
	}
	request := &fairleadv1.PreviewTimingRequest{
		N: firesPreviewed, Name: name, Cron: s.GetCron(), Every: s.GetEvery(), Delay: s.GetDelay(), Daily: s.GetDaily(), At: s.GetAt(), Timezone: s.GetTimezone(),
		StartsAt: s.GetStartsAt(), EndsAt: s.GetEndsAt(), Jitter: s.GetJitter(), Calendar: s.GetCalendar(),
	}
	if s.GetEvery() != nil && s.GetStartsAt() == nil {
		request.StartsAt = s.GetCreatedAt() // the interval is counted from there
	}
	preview := &firesPreview{Zone: s.GetTimezone(), Only: s.GetDelay() != nil || s.GetAt() != nil}
	if preview.Only {
		request.N = 1
	}
	answer, err := v.schedules.PreviewTiming(v.ctx, request)
	if err != nil {
		return nil, err
	}
	preview.Words = answer.GetWords()
	for _, instant := range answer.GetItems() {
		preview.Fires = append(preview.Fires, comingFire{Instant: instant, Remark: v.clockChange(instant.GetRemark())})
	}
	return preview, nil
}
