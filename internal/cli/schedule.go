package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) scheduleCommand() *cobra.Command {
	cmd := noun("schedule", "Manage schedules, which start jobs at specified times",
		s.scheduleCreateCommand(), s.scheduleGetCommand(), s.scheduleListCommand(), s.scheduleUpdateCommand(), s.scheduleDeleteCommand(),
		s.scheduleEnableCommand(), s.scheduleDisableCommand(), s.scheduleTriggerCommand(), s.scheduleBackfillCommand(), s.scheduleTestCommand(),
		s.schedulePreviewCommand(), s.scheduleRunsCommand(), s.scheduleStatsCommand(), s.scheduleExplainCommand(),
		s.scheduleExportCommand(), s.scheduleApplyCommand(),
	)
	s.completeFirst(cmd, scheduleNames, "create", "list", "apply")
	return s.prints(s.connects(cmd))
}

// scheduleID returns the ID of a schedule given by ID or name, or 0 if none is given.
func (c *call) scheduleID(ctx context.Context, ref string) (int64, error) {
	if ref == "" {
		return 0, nil
	}
	schedule, err := c.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: ref})
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(schedule.GetId(), 10, 64)
}

func (s *session) scheduleCreateCommand() *cobra.Command {
	var flags scheduleFlags
	cmd := verb("create NAME KIND", "Create a schedule that starts jobs of a kind", nil)
	ask, test := asksWhatIf(cmd), testsCall(cmd)
	cmd.Long = cmd.Short + ". Set exactly one of --cron, --every, --delay, --daily and --at."
	cmd.Example = "  fairlead schedule create nightly report --daily 03:00 --timezone Europe/Paris --args '{\"n\":1}'\n" +
		"  fairlead schedule create poll http --every 30s --overlap-action skip --args @call.json"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		wanted := &fairleadv1.Schedule{Name: &c.args[0], Job: &fairleadv1.NewJob{Kind: c.args[1]}}
		if err := flags.apply(cmd, c, wanted); err != nil {
			return err
		}
		flags.applyAlert(cmd, nil, wanted)
		switch {
		case *ask && *test:
			return Usagef("specify at most one of --what-if and --test")
		case *ask:
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{Schedule: wanted})
		case *test:
			return c.printTested(c.schedules.TestScheduleDraft(ctx, wanted))
		}
		return c.printDetails(c.schedules.CreateSchedule(ctx, wanted))
	})
	flags.register(cmd, s)
	return cmd
}

func (s *session) scheduleUpdateCommand() *cobra.Command {
	var flags scheduleFlags
	var cleared []string
	cmd := verb("update NAME", "Change the given fields of a schedule", nil)
	ask, test := asksWhatIf(cmd), testsCall(cmd)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		current, err := c.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		change := &fairleadv1.Schedule{Ref: c.args[0], Clear: cleared, Version: current.GetVersion(), Job: current.GetJob()}
		if err := flags.apply(cmd, c, change); err != nil {
			return err
		}
		flags.applyAlert(cmd, current.GetAlert(), change)
		switch {
		case *ask && *test:
			return Usagef("specify at most one of --what-if and --test")
		case *ask:
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{SchedulePatch: change})
		case *test:
			return c.printTested(c.schedules.TestScheduleDraft(ctx, change))
		}
		return c.printDetails(c.schedules.PatchSchedule(ctx, change))
	})
	flags.register(cmd, s)
	cmd.Flags().StringSliceVar(&cleared, "clear", nil, "field to reset to its default, such as ends_at (repeatable)")
	return cmd
}

func (s *session) scheduleGetCommand() *cobra.Command {
	return verb("get NAME", "Show a schedule", s.runs(func(ctx context.Context, c *call) error {
		return c.printDetails(c.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]}))
	}))
}

// listSchedules returns schedules. If limit is 0, it returns all.
func (c *call) listSchedules(ctx context.Context, request *fairleadv1.ListSchedulesRequest, limit int) (*fairleadv1.ListSchedulesResponse, error) {
	items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListSchedulesResponse, error) {
		request.PageSize, request.PageToken = size, token
		return c.schedules.ListSchedules(ctx, request)
	})
	return &fairleadv1.ListSchedulesResponse{Items: items, NextPageToken: next}, err
}

func (s *session) scheduleListCommand() *cobra.Command {
	var limit int
	request := &fairleadv1.ListSchedulesRequest{}
	cmd := verb("list", "List schedules", s.runs(func(ctx context.Context, c *call) error {
		if request.GetSoonest() && (limit < 1 || limit > largestPage) {
			return Usagef("--limit %d must be from 1 to %d with --soonest", limit, largestPage)
		}
		all, err := c.listSchedules(ctx, request, limit)
		if err != nil {
			return err
		}
		c.noteMore(all.GetNextPageToken(), limit)
		table := c.Table("ID", "NAME", "KIND", "TENANT", "DUE", "ZONE", "NEXT", "NOTE")
		for _, schedule := range all.GetItems() {
			note := screen.Cell{}
			if !schedule.GetEnabled() {
				note = screen.Cell{Text: "disabled", Tone: screen.Faint}
				if why := schedule.GetReason(); why != "" {
					note.Text += ": " + why
				}
			}
			job := schedule.GetJob()
			table.Add(schedule.GetId(), schedule.GetName(), job.GetKind(), job.GetTenant(), timingText(schedule), schedule.GetTimezone(), schedule.GetNextDue(), note)
		}
		return c.printTable(all, table)
	}))
	cmd.Flags().StringSliceVar(&request.Tenant, "tenant", nil, "only schedules that start jobs of this tenant (repeatable)")
	cmd.Flags().BoolVar(&request.Soonest, "soonest", false, "only enabled schedules that will run again, soonest first")
	complete(cmd, "tenant", s.asked(tenantNames))
	limits(cmd, &limit)
	return cmd
}

// timingText returns the timing of a schedule as the user wrote it.
func timingText(s *fairleadv1.Schedule) string {
	switch {
	case s.GetCron() != "":
		return s.GetCron()
	case s.GetDaily() != "":
		return "daily " + s.GetDaily()
	case s.GetEvery() != nil:
		return "every " + screen.Span(s.GetEvery().AsDuration())
	case s.GetDelay() != nil:
		return screen.Span(s.GetDelay().AsDuration()) + " after each run"
	}
	return "once"
}

func (s *session) scheduleDeleteCommand() *cobra.Command {
	return verb("delete NAME", "Delete a schedule and its queued runs; other runs continue", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.schedules.DeleteSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "schedule %s deleted", c.args[0])
	}))
}

func (s *session) scheduleEnableCommand() *cobra.Command {
	return verb("enable NAME", "Enable a schedule; runs missed while it was disabled are not started", s.runs(func(ctx context.Context, c *call) error {
		schedule, err := c.schedules.EnableSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(schedule, "schedule %s enabled", schedule.GetName())
	}))
}

func (s *session) scheduleDisableCommand() *cobra.Command {
	var reason string
	cmd := verb("disable NAME", "Disable a schedule; its active runs continue", s.runs(func(ctx context.Context, c *call) error {
		schedule, err := c.schedules.DisableSchedule(ctx, &fairleadv1.DisableScheduleRequest{Id: c.args[0], Reason: reason})
		if err != nil {
			return err
		}
		return c.say(schedule, "schedule %s disabled", schedule.GetName())
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "reason for disabling, shown with the schedule (default: none)")
	return cmd
}
