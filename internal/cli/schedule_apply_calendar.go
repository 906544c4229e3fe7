package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// A file of schedules carries the calendars along that they name, in documents of
// their own: {calendars: [{name: …, dates: […]}, …]}.

// calendarsDocument is the document of the calendars that schedules name; nil:
// they name none.
func (c *call) calendarsDocument(ctx context.Context, schedules []*fairleadv1.Schedule) ([]byte, error) {
	var named []json.RawMessage
	if !slices.ContainsFunc(schedules, func(s *fairleadv1.Schedule) bool { return s.GetCalendar() != "" }) {
		return nil, nil
	}
	all, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, err
	}
	for _, calendar := range all.GetItems() {
		if !slices.ContainsFunc(schedules, func(s *fairleadv1.Schedule) bool { return s.GetCalendar() == calendar.GetName() }) {
			continue
		}
		calendar.Version = 0
		body, err := wire.Marshal(calendar)
		if err != nil {
			return nil, err
		}
		named = append(named, body)
	}
	return json.Marshal(map[string][]json.RawMessage{"calendars": named})
}

// readCalendars reads a document of calendars. It is none if it has no such field.
func readCalendars(body []byte) (calendars []*fairleadv1.Calendar, isOne bool, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields["calendars"] == nil {
		return nil, false, nil //nolint:nilerr // then it is another document, and refused as that
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var document struct {
		Calendars []json.RawMessage `json:"calendars"`
	}
	if err := decoder.Decode(&document); err != nil {
		return nil, true, fmt.Errorf("a document of calendars has nothing else: %w", err)
	}
	for _, body := range document.Calendars {
		calendar := &fairleadv1.Calendar{}
		if err := wire.Unmarshal(body, calendar); err != nil {
			return nil, true, err
		}
		if calendar.GetName() == "" {
			return nil, true, fmt.Errorf("name of a calendar is missing; it must be given")
		}
		calendar.Version = 0
		calendars = append(calendars, calendar)
	}
	return calendars, true, nil
}

// calendarChange is a calendar that is to become as a file says.
type calendarChange struct {
	current *fairleadv1.Calendar // nil: there is none yet
	wanted  *fairleadv1.Calendar
}

// text shows what changes, as scheduleChange does.
func (change *calendarChange) text() string {
	head := "~ calendar "
	if change.current == nil {
		head = "+ calendar "
	}
	var lines strings.Builder
	before, after := calendarLines(change.current), calendarLines(change.wanted)
	for i, name := range []string{"description", "weekdays", "dates", "ranges"} {
		if before[i] != after[i] {
			fmt.Fprintf(&lines, "    %s: %s -> %s\n", name, screen.Clean(orNone(before[i])), screen.Clean(orNone(after[i])))
		}
	}
	return screen.Clean(head+change.wanted.GetName()) + "\n" + lines.String()
}

// calendarLines are the fields of a calendar in words.
func calendarLines(calendar *fairleadv1.Calendar) [4]string {
	var ranges []string
	for _, r := range calendar.GetRanges() {
		ranges = append(ranges, r.GetFrom()+".."+r.GetTo())
	}
	return [4]string{
		calendar.GetDescription(), strings.Join(calendar.GetWeekdays(), ","), strings.Join(calendar.GetDates(), ","), strings.Join(ranges, ","),
	}
}

// make changes one calendar.
func (change *calendarChange) make(ctx context.Context, c *call) (err error) {
	if change.current == nil {
		_, err = c.calendars.CreateCalendar(ctx, change.wanted)
		return err
	}
	wanted := proto.CloneOf(change.wanted)
	wanted.Version = change.current.GetVersion()
	_, err = c.calendars.UpdateCalendar(ctx, wanted)
	return err
}

// calendarChanges compares the calendars of a file with those that there are, and
// names those that its schedules need and neither has.
func (c *call) calendarChanges(ctx context.Context, file *scheduleFile) (changes []*calendarChange, missing []string, err error) {
	if len(file.calendars) == 0 && !slices.ContainsFunc(file.schedules, func(s *fairleadv1.Schedule) bool { return s.GetCalendar() != "" }) {
		return nil, nil, nil
	}
	there, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, nil, err
	}
	known := map[string]*fairleadv1.Calendar{}
	for _, calendar := range there.GetItems() {
		known[calendar.GetName()] = calendar
	}
	for _, wanted := range file.calendars {
		change := &calendarChange{current: known[wanted.GetName()], wanted: wanted}
		if change.current == nil || calendarLines(change.current) != calendarLines(wanted) {
			changes = append(changes, change)
		}
		known[wanted.GetName()] = wanted
	}
	for _, schedule := range file.schedules {
		if name := schedule.GetCalendar(); name != "" && known[name] == nil {
			missing = append(missing, fmt.Sprintf("! calendar %s is missing: schedule %s names it, and neither the file nor the server has it\n",
				screen.Clean(name), screen.Clean(schedule.GetName())))
		}
	}
	return changes, missing, nil
}
