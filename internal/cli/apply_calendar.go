package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// A file of schedules includes the calendars that they refer to, in documents of their own:
// {calendars: [{name: …, dates: […]}, …]}.

// calendarsDocument returns the document with the calendars of schedules, or nil if they
// refer to none.
func (c *call) calendarsDocument(ctx context.Context, schedules []*fairleadv1.Schedule) ([]byte, error) {
	if !slices.ContainsFunc(schedules, func(s *fairleadv1.Schedule) bool { return s.GetCalendar() != "" }) {
		return nil, nil
	}
	all, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, err
	}
	named := slices.DeleteFunc(all.GetItems(), func(calendar *fairleadv1.Calendar) bool {
		return !slices.ContainsFunc(schedules, func(s *fairleadv1.Schedule) bool { return s.GetCalendar() == calendar.GetName() })
	})
	entries, err := asEntries(named, calendarAsFile)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string][]json.RawMessage{"calendars": entries})
}

// calendarAsFile returns a calendar without the fields that the server sets.
func calendarAsFile(calendar *fairleadv1.Calendar) *fairleadv1.Calendar {
	out := proto.CloneOf(calendar)
	out.Version = 0
	return out
}

// calendarChange is the change of a calendar to match a file.
type calendarChange struct {
	current *fairleadv1.Calendar // nil if it does not exist yet
	wanted  *fairleadv1.Calendar
}

func (change *calendarChange) text() string {
	var d differences
	before, after := calendarLines(change.current), calendarLines(change.wanted)
	for i, name := range []string{"description", "weekdays", "dates", "ranges"} {
		d.note(name, before[i], after[i])
	}
	return d.describe(change.current == nil, "calendar "+change.wanted.GetName())
}

// calendarLines returns the fields of a calendar as text.
func calendarLines(calendar *fairleadv1.Calendar) [4]string {
	var ranges []string
	for _, r := range calendar.GetRanges() {
		ranges = append(ranges, r.GetFrom()+".."+r.GetTo())
	}
	return [4]string{
		calendar.GetDescription(), strings.Join(calendar.GetWeekdays(), ","), strings.Join(calendar.GetDates(), ","), strings.Join(ranges, ","),
	}
}

func (change *calendarChange) asked() *fairleadv1.WhatIfChange {
	return &fairleadv1.WhatIfChange{Calendar: change.versioned()}
}

// versioned returns the wanted calendar with the version of the current one.
func (change *calendarChange) versioned() *fairleadv1.Calendar {
	wanted := proto.CloneOf(change.wanted)
	wanted.Version = change.current.GetVersion()
	return wanted
}

// make changes one calendar.
func (change *calendarChange) make(ctx context.Context, c *call) (err error) {
	if change.current == nil {
		_, err = c.calendars.CreateCalendar(ctx, change.wanted)
		return err
	}
	_, err = c.calendars.UpdateCalendar(ctx, change.versioned())
	return err
}

// calendarChanges compares the calendars of a file with the existing ones, and returns the
// calendars that the file's schedules require but neither side has.
func (c *call) calendarChanges(ctx context.Context, file *manifest) (changes []change, missing []string, err error) {
	if len(file.calendars) == 0 && !slices.ContainsFunc(file.schedules, func(s *fairleadv1.Schedule) bool { return s.GetCalendar() != "" }) {
		return nil, nil, nil
	}
	there, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, nil, err
	}
	known := byName(there.GetItems())
	for _, wanted := range file.calendars {
		change := &calendarChange{current: known[wanted.GetName()], wanted: calendarAsFile(wanted)}
		if change.current == nil || calendarLines(change.current) != calendarLines(wanted) {
			changes = append(changes, change)
		}
		known[wanted.GetName()] = wanted
	}
	for _, schedule := range file.schedules {
		if name := schedule.GetCalendar(); name != "" && known[name] == nil {
			missing = append(missing, fmt.Sprintf("! calendar %s is missing: schedule %s refers to it, but neither the file nor the server has it\n",
				screen.Clean(name), screen.Clean(schedule.GetName())))
		}
	}
	return changes, missing, nil
}
