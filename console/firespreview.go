package console

import (
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// firesPreviewed is how many instants are shown while one types.
const firesPreviewed = 10

// firesPreview is when a schedule would be due as its form says it.
type firesPreview struct {
	Words string
	Zone  string
	Fires []comingFire
	Only  bool   // what follows depends on the runs
	Why   string // nothing can be shown; empty: it can
}

// Late reports whether the schedule's part of the jitter moves its fires.
func (p *firesPreview) Late() bool {
	return len(p.Fires) > 0 && !p.Fires[0].GetFire().AsTime().Equal(p.Fires[0].GetDue().AsTime())
}

// loadFiresPreview asks when the schedule would be due with what was typed, or is due as it
// is stored.
func loadFiresPreview(v *visit) (any, error) {
	s, err := v.editedSchedule()
	if err != nil {
		return nil, err
	}
	s = proto.CloneOf(s) // others may be shown the same answer
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
		request.StartsAt = s.GetCreatedAt() // it is counted from there
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
