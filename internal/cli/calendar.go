package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func (s *session) calendarCommand() *cobra.Command {
	cmd := noun("calendar", "Manage calendars of days that schedules skip",
		s.calendarCreateCommand(), s.calendarGetCommand(), s.calendarListCommand(), s.calendarUpdateCommand(), s.calendarDeleteCommand())
	s.completeFirst(cmd, calendarNames, "create", "list")
	return s.prints(s.connects(cmd))
}

// calendarFlags holds the flags of a calendar.
type calendarFlags struct {
	description             string
	weekdays, dates, ranges []string
}

func (t *calendarFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.description, "description", "", "description of the calendar (default: none)")
	f.StringSliceVar(&t.weekdays, "weekday", nil, "weekday to exclude, such as sunday (repeatable; default: none)")
	f.StringSliceVar(&t.dates, "date", nil, "date to exclude: 2030-12-25, or 12-25 for every year (repeatable; default: none)")
	f.StringSliceVar(&t.ranges, "range", nil, "range of dates to exclude, as FROM..TO, such as 2030-12-24..2031-01-01 (repeatable; default: none)")
	complete(cmd, "weekday", oneOf("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}

// apply sets the fields of a calendar whose flags were given.
func (t *calendarFlags) apply(cmd *cobra.Command, to *fairleadv1.Calendar) error {
	given := cmd.Flags().Changed
	if given("description") {
		to.Description = t.description
	}
	if given("weekday") {
		to.Weekdays = t.weekdays
	}
	if given("date") {
		to.Dates = t.dates
	}
	if given("range") {
		to.Ranges = nil
	}
	for _, text := range t.ranges {
		from, until, ok := strings.Cut(text, "..")
		if !ok {
			return Usagef("--range %q: use FROM..TO, such as 2030-12-24..2031-01-01", text)
		}
		to.Ranges = append(to.Ranges, &fairleadv1.DateRange{From: from, To: until})
	}
	return nil
}

func (s *session) calendarCreateCommand() *cobra.Command {
	var flags calendarFlags
	cmd := verb("create NAME", "Create a calendar", nil)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		wanted := &fairleadv1.Calendar{Name: c.args[0]}
		if err := flags.apply(cmd, wanted); err != nil {
			return err
		}
		return c.printDetails(c.calendars.CreateCalendar(ctx, wanted))
	})
	flags.register(cmd)
	return cmd
}

func (s *session) calendarUpdateCommand() *cobra.Command {
	var flags calendarFlags
	cmd := verb("update NAME", "Change the given fields of a calendar", nil)
	ask := asksWhatIf(cmd)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		calendar, err := c.calendars.GetCalendar(ctx, &fairleadv1.GetCalendarRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		if err := flags.apply(cmd, calendar); err != nil {
			return err
		}
		if *ask {
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{Calendar: calendar})
		}
		return c.printDetails(c.calendars.UpdateCalendar(ctx, calendar)) // includes the version that was read
	})
	flags.register(cmd)
	return cmd
}

func (s *session) calendarGetCommand() *cobra.Command {
	return verb("get NAME", "Show a calendar", s.runs(func(ctx context.Context, c *call) error {
		return c.printDetails(c.calendars.GetCalendar(ctx, &fairleadv1.GetCalendarRequest{Name: c.args[0]}))
	}))
}

func (s *session) calendarListCommand() *cobra.Command {
	return verb("list", "List calendars", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
		if err != nil {
			return err
		}
		table := c.Table("NAME", "WEEKDAYS", "DATES", "RANGES", "DESCRIPTION")
		for _, calendar := range all.GetItems() {
			table.Add(calendar.GetName(), strings.Join(calendar.GetWeekdays(), ","), int32(len(calendar.GetDates())), int32(len(calendar.GetRanges())), calendar.GetDescription())
		}
		return c.printTable(all, table)
	}))
}

func (s *session) calendarDeleteCommand() *cobra.Command {
	return verb("delete NAME", "Delete a calendar that no schedule uses", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.calendars.DeleteCalendar(ctx, &fairleadv1.GetCalendarRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "calendar %s deleted", c.args[0])
	}))
}
