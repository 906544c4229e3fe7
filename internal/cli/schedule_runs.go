package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) scheduleTriggerCommand() *cobra.Command {
	var args string
	var wait waiting
	cmd := verb("trigger NAME", "Start a run now, even if the schedule is disabled", nil)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) (err error) {
		request := &fairleadv1.TriggerScheduleRequest{Id: c.args[0]}
		if cmd.Flags().Changed("args") {
			if request.Args, err = readDocument("--args", args, c.in); err != nil {
				return err
			}
		}
		run, err := c.schedules.TriggerSchedule(ctx, request)
		if err != nil {
			return err
		}
		if wait.asked(cmd) {
			return wait.all(ctx, c, []int64{run.GetId()})
		}
		return c.say(run, "%d", run.GetId())
	})
	cmd.Flags().StringVar(&args, "args", "", "handler input for this run: JSON, @FILE, or - for standard input (default: the schedule's input)")
	wait.flag(cmd)
	return cmd
}

func (s *session) scheduleBackfillCommand() *cobra.Command {
	request := &fairleadv1.BackfillScheduleRequest{}
	dry := false
	from, to := moment{past: true}, moment{past: true}
	cmd := verb("backfill NAME", "Create the missing runs of a past period", nil)
	cmd.Example = "  fairlead schedule backfill nightly --from 7d --to 1h --serial"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		request.Id, request.From, request.To = c.args[0], from.proto(), to.proto()
		if dry {
			return c.sayBackfill(c.schedules.PreviewBackfill(ctx, request))
		}
		answer, err := c.schedules.BackfillSchedule(ctx, request)
		if err != nil {
			return err
		}
		return c.say(answer, "%s created%s", runCount(len(answer.GetItems())), passedOver(answer.GetPassedOver()))
	})
	f := cmd.Flags()
	f.Var(&from, "from", "start of the period, inclusive: a timestamp, or a duration such as 2h for two hours ago (required)")
	f.Var(&to, "to", "end of the period, exclusive: a timestamp, or a duration such as 1h for an hour ago (required)")
	f.BoolVar(&request.Serial, "serial", false, "run one at a time")
	f.BoolVar(&request.NewestFirst, "newest-first", false, "start with the newest run")
	f.BoolVar(&request.Again, "again", false, "also create runs for times that already have a run")
	f.BoolVar(&dry, "dry-run", false, "show the number of runs that would be created, without creating them")
	return cmd
}

func (c *call) sayBackfill(counted *fairleadv1.PreviewBackfillResponse, err error) error {
	if err != nil {
		return err
	}
	if counted.GetRuns() == 0 {
		return c.say(counted, "%s%s", runCount(0), passedOver(counted.GetPassedOver()))
	}
	return c.say(counted, "%s, from %s to %s%s", runCount(int(counted.GetRuns())), c.moment(counted.GetFirst().AsTime()), c.moment(counted.GetLast().AsTime()), passedOver(counted.GetPassedOver()))
}

// passedOver returns a note with the number of instants in a backfill that already have a
// run.
func passedOver(n int32) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 time already has a run"
	}
	return fmt.Sprintf("; %d times already have a run", n)
}

func runCount(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func (s *session) schedulePreviewCommand() *cobra.Command {
	var n int32
	var flags scheduleFlags
	cmd := verb("preview [NAME]", "Show the next due times of a stored schedule or of the schedule given by flags", nil)
	cmd.Example = "  fairlead schedule preview nightly\n  fairlead schedule preview --cron '0 3 L-3W * *' --timezone Europe/Paris"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.preview(ctx, flags.timing(cmd), n)
		if err != nil {
			return err
		}
		table := c.Table("LOCAL", "DUE", "FIRES", "NOTE")
		for _, instant := range answer.GetItems() {
			table.Add(instant.GetLocal(), instant.GetDue(), instant.GetFire(), instant.GetRemark())
		}
		return c.printTable(answer, table)
	})
	flags.registerTiming(cmd, s)
	cmd.Flags().Int32VarP(&n, "number", "n", 10, "number of due times to show")
	return cmd
}

// preview returns the due times of a stored schedule, or of a schedule described by flags.
func (c *call) preview(ctx context.Context, timing *fairleadv1.PreviewTimingRequest, n int32) (*fairleadv1.PreviewScheduleResponse, error) {
	said := proto.Size(timing) > 0
	switch {
	case len(c.args) > 0 && said:
		return nil, Usagef("specify either NAME or schedule flags, not both")
	case len(c.args) > 0:
		return c.schedules.PreviewSchedule(ctx, &fairleadv1.PreviewScheduleRequest{Id: c.args[0], N: n})
	case !said:
		return nil, Usagef("specify NAME or schedule flags such as --cron '0 3 * * *'")
	}
	timing.N = n
	return c.schedules.PreviewTiming(ctx, timing)
}

func (s *session) scheduleRunsCommand() *cobra.Command {
	var limit int
	cmd := verb("runs NAME", "List the runs of a schedule, newest first", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListRunsResponse, error) {
			return c.schedules.ListRuns(ctx, &fairleadv1.ListRunsRequest{Id: c.args[0], PageSize: size, PageToken: token})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("JOB", "STATE", "DUE", "TRIGGER", "NUMBER", "FINISHED", "NOTE")
		for _, run := range items {
			table.Add(run.GetId(), screen.State(run.GetState()), run.GetDue(), run.GetTrigger(), run.GetNumber(), run.GetFinishedAt(), runNote(run))
		}
		return c.printTable(&fairleadv1.ListRunsResponse{Items: items, NextPageToken: next}, table)
	}))
	limits(cmd, &limit)
	return cmd
}

func runNote(run *fairleadv1.Run) string {
	switch {
	case run.GetSkipReason() != "":
		return "reason: " + run.GetSkipReason()
	case run.GetQueued():
		return "waiting for an earlier run"
	}
	return ""
}

func (s *session) scheduleStatsCommand() *cobra.Command {
	return verb("stats NAME", "Show statistics of the latest runs of a schedule", s.runs(func(ctx context.Context, c *call) error {
		return c.printDetails(c.schedules.GetScheduleStats(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]}))
	}))
}

func (s *session) scheduleExplainCommand() *cobra.Command {
	return verb("explain NAME", "Explain when a schedule is due and what holds up the schedule or its runs", s.runs(func(ctx context.Context, c *call) error {
		schedule, err := c.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		why, err := c.schedules.ExplainSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: schedule.GetId()})
		if err != nil {
			return err
		}
		preview, err := c.schedules.PreviewSchedule(ctx, &fairleadv1.PreviewScheduleRequest{Id: schedule.GetId(), N: 1})
		if err != nil {
			return err
		}
		return c.print(why, func() error {
			_, err := fmt.Fprint(c.Out, scheduleStory(schedule, preview), situation(c.printer, "schedule", why))
			return err
		})
	}))
}

// scheduleStory describes in sentences when a schedule is due.
func scheduleStory(schedule *fairleadv1.Schedule, preview *fairleadv1.PreviewScheduleResponse) string {
	text := fmt.Sprintf("schedule %s is due %s\n", screen.Clean(schedule.GetName()), screen.Clean(preview.GetWords()))
	if calendar := schedule.GetCalendar(); calendar != "" {
		text += "it skips the days of calendar " + screen.Clean(calendar) + "\n"
	}
	return text
}
