package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Calendars implements the CalendarService.
type Calendars struct {
	client *schedule.Client
}

// NewCalendars returns a CalendarService backed by store.
func NewCalendars(store Store) *Calendars {
	return &Calendars{client: schedule.NewClient(store)}
}

// weekdays maps the API's names of weekdays.
var weekdays = func() map[string]time.Weekday {
	all := map[string]time.Weekday{}
	for day := time.Sunday; day <= time.Saturday; day++ {
		all[strings.ToLower(day.String())] = day
	}
	return all
}()

func calendarOf(in *fairleadv1.Calendar) schedule.Calendar {
	out := schedule.Calendar{Name: in.GetName(), Description: in.GetDescription(), Dates: in.GetDates(), Version: in.GetVersion()}
	for _, day := range in.GetWeekdays() {
		out.Weekdays = append(out.Weekdays, weekdays[day]) // the schema's rules let no other through
	}
	for _, r := range in.GetRanges() {
		out.Ranges = append(out.Ranges, schedule.DateRange{From: r.GetFrom(), To: r.GetTo()})
	}
	return out
}

func calendarTo(c schedule.Calendar) *fairleadv1.Calendar {
	out := &fairleadv1.Calendar{Name: c.Name, Description: c.Description, Dates: c.Dates, Version: c.Version}
	for _, day := range c.Weekdays {
		out.Weekdays = append(out.Weekdays, strings.ToLower(day.String()))
	}
	for _, r := range c.Ranges {
		out.Ranges = append(out.Ranges, &fairleadv1.DateRange{From: r.From, To: r.To})
	}
	return out
}

func (s *Calendars) find(ctx context.Context, name string) (schedule.Calendar, error) {
	calendars, err := s.client.Calendars(ctx)
	if err != nil {
		return schedule.Calendar{}, err
	}
	for _, calendar := range calendars {
		if calendar.Name == name {
			return calendar, nil
		}
	}
	return schedule.Calendar{}, fmt.Errorf("calendar %q: %w", name, fairlead.ErrNotFound)
}

func (s *Calendars) put(ctx context.Context, calendar schedule.Calendar) (*fairleadv1.Calendar, error) {
	stored, err := s.client.PutCalendar(ctx, calendar)
	if err != nil {
		return nil, err
	}
	return calendarTo(stored), nil
}

// CreateCalendar stores a calendar.
func (s *Calendars) CreateCalendar(ctx context.Context, in *fairleadv1.Calendar) (*fairleadv1.Calendar, error) {
	if in.GetVersion() != 0 {
		return nil, rest.InvalidField("version", "is set by the server; omit it")
	}
	return s.put(ctx, calendarOf(in))
}

// GetCalendar returns a calendar.
func (s *Calendars) GetCalendar(ctx context.Context, in *fairleadv1.GetCalendarRequest) (*fairleadv1.Calendar, error) {
	calendar, err := s.find(ctx, in.GetName())
	if err != nil {
		return nil, err
	}
	return calendarTo(calendar), nil
}

// ListCalendars returns all calendars, ordered by name.
func (s *Calendars) ListCalendars(ctx context.Context, _ *fairleadv1.ListCalendarsRequest) (*fairleadv1.ListCalendarsResponse, error) {
	calendars, err := s.client.Calendars(ctx)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListCalendarsResponse{Items: items(calendars, calendarTo)}, nil
}

// UpdateCalendar replaces a calendar. If the request contains no version, it replaces the
// calendar regardless of the stored version.
func (s *Calendars) UpdateCalendar(ctx context.Context, in *fairleadv1.Calendar) (*fairleadv1.Calendar, error) {
	calendar := calendarOf(in)
	if calendar.Version == 0 {
		current, err := s.find(ctx, calendar.Name)
		if err != nil {
			return nil, err
		}
		calendar.Version = current.Version
	}
	return s.put(ctx, calendar)
}

// DeleteCalendar deletes a calendar, provided that no schedule uses it.
func (s *Calendars) DeleteCalendar(ctx context.Context, in *fairleadv1.GetCalendarRequest) (*fairleadv1.DeleteCalendarResponse, error) {
	if err := s.client.DeleteCalendar(ctx, in.GetName()); err != nil {
		return nil, err
	}
	return &fairleadv1.DeleteCalendarResponse{}, nil
}
