package console

import (
	"net/url"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var calendarActions = []action{
	{name: "calendar-form", path: "/new/calendar", Title: "New calendar", Button: "Save", Nav: "calendars", method: "CreateCalendar", load: loadCalendarForm, do: createCalendar},
	{name: "calendar-form", path: "/calendars/{name}/edit", Title: "Edit calendar", Button: "Save", Nav: "calendars", method: "UpdateCalendar", load: loadCalendarForm, do: updateCalendar, whatIf: calendarWhatIf},
	{name: "calendar-delete", path: "/calendars/{name}/delete", Title: "Delete calendar", Nav: "calendars", method: "DeleteCalendar", Grave: true, load: loadCalendarRemoval, do: deleteCalendar},
}

// calendarForm contains a calendar to edit, or a new one, and its effect with the current
// input.
type calendarForm struct {
	*fairleadv1.Calendar
	Effect *calendarEffect
}

// IsNew reports whether the calendar is not stored yet.
func (f *calendarForm) IsNew() bool { return f.GetVersion() == 0 }

// editedCalendar returns the calendar of the form, or an empty one.
func (v *visit) editedCalendar() (*fairleadv1.Calendar, error) {
	name := v.Value("name")
	if name == "" {
		return &fairleadv1.Calendar{}, nil
	}
	return v.calendars.GetCalendar(v.ctx, &fairleadv1.GetCalendarRequest{Name: name})
}

func loadCalendarForm(v *visit) (any, error) {
	calendar, err := v.editedCalendar()
	if err != nil {
		return nil, err
	}
	form := &calendarForm{Calendar: calendar}
	typed, wrong := calendar, error(nil)
	if v.posted != nil {
		typed, wrong = v.typedCalendar(calendar)
	}
	if form.Effect, err = v.calendarEffect(calendar, typed); err != nil {
		return nil, err
	}
	if wrong != nil {
		_, form.Effect.Why = v.refusal(wrong)
	}
	return form, nil
}

// loadCalendarEffect returns the effect of a calendar with the current input.
func loadCalendarEffect(v *visit) (any, error) {
	form, err := loadCalendarForm(v)
	if err != nil {
		return nil, err
	}
	return form.(*calendarForm).Effect, nil
}

func createCalendar(v *visit) (done, error) {
	wanted, err := v.typedCalendar(&fairleadv1.Calendar{})
	if err != nil {
		return done{}, err
	}
	made, err := v.calendars.CreateCalendar(v.ctx, wanted)
	if err != nil {
		return done{}, err
	}
	return v.storedCalendar(made), nil
}

// changedCalendar returns the stored calendar with the changes of the form.
func (v *visit) changedCalendar() (*fairleadv1.Calendar, error) {
	current, err := v.editedCalendar()
	if err != nil {
		return nil, err
	}
	wanted, err := v.typedCalendar(current)
	if err != nil {
		return nil, err
	}
	f := v.fields()
	wanted.Version = f.number("version")
	return wanted, f.err()
}

// calendarWhatIf returns the change that would be saved.
func calendarWhatIf(v *visit) (*fairleadv1.WhatIfChange, error) {
	wanted, err := v.changedCalendar()
	return &fairleadv1.WhatIfChange{Calendar: wanted}, err
}

func updateCalendar(v *visit) (done, error) {
	wanted, err := v.changedCalendar()
	if err != nil {
		return done{}, err
	}
	stored, err := v.calendars.UpdateCalendar(v.ctx, wanted)
	if err != nil {
		return done{}, err
	}
	return v.storedCalendar(stored), nil
}

// storedCalendar redirects to the page of a stored calendar.
func (v *visit) storedCalendar(calendar *fairleadv1.Calendar) done {
	return done{Notice: v.T("Calendar %s was saved.", calendar.GetName()), To: "/calendars/" + url.PathEscape(calendar.GetName())}
}

// calendarRemoval is a calendar to be deleted.
type calendarRemoval struct{ *calendarForm }

// Barred reports whether a schedule uses the calendar, so that the API would refuse to
// delete it.
func (r calendarRemoval) Barred() bool { return len(r.Effect.Moves) > 0 }

func loadCalendarRemoval(v *visit) (any, error) {
	form, err := loadCalendarForm(v)
	if err != nil {
		return nil, err
	}
	return calendarRemoval{form.(*calendarForm)}, nil
}

// deleteCalendar deletes the calendar if it is still as the form showed it, because the API
// accepts no version for deletions.
func deleteCalendar(v *visit) (done, error) {
	name := v.Value("name")
	calendar, err := v.editedCalendar()
	if err != nil {
		return done{}, err
	}
	f := v.fields()
	v.unchanged(f, map[string]any{"version": calendar.GetVersion()})
	if err := f.err(); err != nil {
		return done{}, err
	}
	if _, err := v.calendars.DeleteCalendar(v.ctx, &fairleadv1.GetCalendarRequest{Name: name}); err != nil {
		return done{}, err
	}
	return done{Notice: v.T("Calendar %s was deleted.", name), To: "/calendars"}, nil
}

// typedCalendar returns a calendar with the input of its form.
func (v *visit) typedCalendar(base *fairleadv1.Calendar) (*fairleadv1.Calendar, error) {
	calendar, f := proto.CloneOf(base), v.fields()
	if base.GetVersion() == 0 {
		calendar.Name = f.text("name")
	}
	calendar.Description = f.text("description")
	calendar.Weekdays = nil
	for _, day := range weekdayNames {
		if f.ticked("weekday_" + day) {
			calendar.Weekdays = append(calendar.Weekdays, day)
		}
	}
	calendar.Dates = f.dates("dates")
	calendar.Ranges = f.ranges("ranges")
	f.soundCalendar(calendar)
	return calendar, f.err()
}

// weekdayNames lists the API's names of weekdays, Monday first.
var weekdayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
