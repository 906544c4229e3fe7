package console

import (
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	usersLookedAt = 5000 // number of schedules that are searched for users of a calendar
	usersShown    = 20   // number of users that are shown
)

// calendarEffect shows a year of a calendar with the current input, and the effect on the
// schedules that use it.
type calendarEffect struct {
	Year   int
	Months []monthPicture
	Users  count // schedules that use it
	Moves  []movedSchedule
	Why    string // error in the input; empty = valid
}

// movedSchedule is a schedule with its next instant, before and after the change.
type movedSchedule struct {
	*fairleadv1.Schedule
	Before, After time.Time // zero = none
}

// Moved reports whether the next instant changes.
func (m movedSchedule) Moved() bool { return !m.Before.Equal(m.After) }

func (v *visit) calendarEffect(current, typed *fairleadv1.Calendar) (*calendarEffect, error) {
	today := v.Now.In(v.Zone)
	year := today.Year()
	f := v.fields()
	if asked := f.number("year"); f.err() == nil && asked > 0 && asked <= lastYear {
		year = int(asked)
	}
	effect := &calendarEffect{Year: year, Months: yearPicture(year, today, exclusionsOf(typed))}
	if current.GetVersion() == 0 {
		return effect, nil // no schedule can use it yet
	}
	users, more, err := v.schedulesNaming(current.GetName())
	if err != nil {
		return nil, err
	}
	effect.Users = count{N: int64(len(users)), More: more}
	for _, s := range users[:min(len(users), usersShown)] {
		effect.Moves = append(effect.Moves, movedSchedule{Schedule: s, Before: v.nextBy(s, current), After: v.nextBy(s, typed)})
	}
	return effect, nil
}

// nextBy returns the next instant of a schedule with a calendar, or zero if there is none
// or it is unknown.
func (v *visit) nextBy(s *fairleadv1.Schedule, calendar *fairleadv1.Calendar) time.Time {
	plan, err := planOf(s, calendar)
	if err != nil || plan.unforeseeable() {
		return time.Time{}
	}
	for _, due := range plan.timing.Preview(v.Now, 1) {
		return due
	}
	return time.Time{}
}

// schedulesNaming returns the schedules that use a calendar; more reports whether some
// schedules were not searched.
func (v *visit) schedulesNaming(calendar string) (users []*fairleadv1.Schedule, more bool, err error) {
	request := &fairleadv1.ListSchedulesRequest{PageSize: 1000}
	for looked := 0; looked < usersLookedAt; {
		list, err := v.schedules.ListSchedules(v.ctx, request)
		if err != nil {
			return nil, false, err
		}
		for _, s := range list.GetItems() {
			if s.GetCalendar() == calendar {
				users = append(users, s)
			}
		}
		looked += len(list.GetItems())
		request = &fairleadv1.ListSchedulesRequest{PageSize: 1000, PageToken: list.GetNextPageToken()}
		if request.GetPageToken() == "" {
			return users, false, nil
		}
	}
	return users, true, nil
}
