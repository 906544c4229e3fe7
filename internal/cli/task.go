package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) taskCommand() *cobra.Command {
	cmd := noun("task", "Manage HTTP schedules (formerly called tasks)",
		s.taskCreateCommand(), s.taskGetCommand(), s.taskListCommand(), s.taskUpdateCommand(), s.taskDeleteCommand(),
		s.taskEnableCommand(), s.taskDisableCommand(), s.taskTriggerCommand(), s.taskRunsCommand(), s.taskRunCommand(), s.taskCancelCommand(),
	)
	cmd.Long = cmd.Short + ".\n\nAn HTTP schedule calls a URL at specified times. This command uses the field names of an older API; \"fairlead schedule\"\nmanages the same objects and is recommended for new scripts."
	s.completeFirst(cmd, taskNames, "create", "list", "run", "cancel")
	return s.prints(s.connects(cmd))
}

// taskNames returns the names of tasks.
func taskNames(ctx context.Context, c *call) ([]string, error) {
	all, err := c.tasks.ListTasks(ctx, &fairleadv1.ListTasksRequest{PageSize: largestPage})
	return namesOf(all.GetItems()), err
}

func (s *session) taskCreateCommand() *cobra.Command {
	var flags taskFlags
	cmd := verb("create NAME", "Create an HTTP schedule", nil)
	cmd.Example = "  fairlead task create ping --cron-expr '*/5 * * * *' --target-url https://example.org/ping --http-method GET"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		wanted := &fairleadv1.Task{Name: &c.args[0]}
		if err := flags.apply(cmd, c, wanted); err != nil {
			return err
		}
		return c.printDetails(c.tasks.CreateTask(ctx, wanted))
	})
	flags.register(cmd, s)
	return cmd
}

func (s *session) taskUpdateCommand() *cobra.Command {
	var flags taskFlags
	var cleared []string
	cmd := verb("update NAME", "Change the given fields of an HTTP schedule", nil)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		change := &fairleadv1.Task{Ref: c.args[0], Clear: cleared}
		if err := flags.apply(cmd, c, change); err != nil {
			return err
		}
		return c.printDetails(c.tasks.PatchTask(ctx, change))
	})
	flags.register(cmd, s)
	cmd.Flags().StringSliceVar(&cleared, "clear", nil, "field to reset to its default, such as retry_policy_json (repeatable)")
	return cmd
}

func (s *session) taskGetCommand() *cobra.Command {
	return verb("get NAME", "Show an HTTP schedule", s.runs(func(ctx context.Context, c *call) error {
		return c.printDetails(c.tasks.GetTask(ctx, &fairleadv1.GetTaskRequest{Id: c.args[0]}))
	}))
}

func (s *session) taskListCommand() *cobra.Command {
	var limit int
	request := &fairleadv1.ListTasksRequest{}
	cmd := verb("list", "List HTTP schedules", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListTasksResponse, error) {
			request.PageSize, request.PageToken = size, token
			return c.tasks.ListTasks(ctx, request)
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("ID", "NAME", "STATUS", "CRON", "ZONE", "CALL", "TENANT", "NEXT")
		for _, t := range items {
			table.Add(t.GetId(), t.GetName(), t.GetStatus(), t.GetCronExpr(), t.GetTimezone(), t.GetHttpMethod()+" "+t.GetTargetUrl(), t.GetTenant(), t.GetNextTime())
		}
		return c.printTable(&fairleadv1.ListTasksResponse{Items: items, NextPageToken: next}, table)
	}))
	cmd.Flags().StringVar(&request.Status, "status", "", "only HTTP schedules with this status: ENABLED or DISABLED")
	cmd.Flags().StringSliceVar(&request.Tenant, "tenant", nil, "only HTTP schedules of this tenant (repeatable)")
	complete(cmd, "status", oneOf("ENABLED", "DISABLED"))
	complete(cmd, "tenant", s.asked(tenantNames))
	limits(cmd, &limit)
	return cmd
}

func (s *session) taskDeleteCommand() *cobra.Command {
	return verb("delete NAME", "Delete an HTTP schedule and its queued runs; other runs continue", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.tasks.DeleteTask(ctx, &fairleadv1.GetTaskRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "task %s deleted", c.args[0])
	}))
}

func (s *session) taskEnableCommand() *cobra.Command {
	return verb("enable NAME", "Enable an HTTP schedule; runs missed while it was disabled are not started", s.runs(func(ctx context.Context, c *call) error {
		task, err := c.tasks.EnableTask(ctx, &fairleadv1.GetTaskRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(task, "task %s enabled", task.GetName())
	}))
}

func (s *session) taskDisableCommand() *cobra.Command {
	return verb("disable NAME", "Disable an HTTP schedule; its active runs continue", s.runs(func(ctx context.Context, c *call) error {
		task, err := c.tasks.DisableTask(ctx, &fairleadv1.GetTaskRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(task, "task %s disabled", task.GetName())
	}))
}

func (s *session) taskTriggerCommand() *cobra.Command {
	return verb("trigger NAME", "Start a run now, even if the HTTP schedule is disabled", s.runs(func(ctx context.Context, c *call) error {
		run, err := c.tasks.TriggerTask(ctx, &fairleadv1.GetTaskRequest{Id: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(run, "run %d of task %s: %s", run.GetId(), c.args[0], run.GetStatus())
	}))
}

func (s *session) taskRunsCommand() *cobra.Command {
	var limit int
	cmd := verb("runs NAME", "List the runs of an HTTP schedule, newest first", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListTaskRunsResponse, error) {
			return c.tasks.ListTaskRuns(ctx, &fairleadv1.ListTaskRunsRequest{Id: c.args[0], PageSize: size, PageToken: token})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("RUN", "STATUS", "SCHEDULED", "TRIGGER", "ATTEMPT", "FINISHED", "HTTP", "NOTE")
		for _, run := range items {
			note := run.GetError()
			if note == "" {
				note = run.GetSkipReason()
			}
			table.Add(run.GetId(), run.GetStatus(), run.GetScheduledTime(), run.GetTrigger(), run.GetAttempt(), run.GetFinishedAt(), screen.Limit(run.GetHttpStatus()), note)
		}
		return c.printTable(&fairleadv1.ListTaskRunsResponse{Items: items, NextPageToken: next}, table)
	}))
	limits(cmd, &limit)
	return cmd
}

func (s *session) taskRunCommand() *cobra.Command {
	return verb("run ID", "Show a run of an HTTP schedule, with its request and response", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.printDetails(c.taskRuns.GetTaskRun(ctx, &fairleadv1.GetTaskRunRequest{Id: id}))
	}))
}

func (s *session) taskCancelCommand() *cobra.Command {
	var reason string
	cmd := verb("cancel ID", "Cancel a run of an HTTP schedule, or ask it to stop if it is running", s.withID(func(ctx context.Context, c *call, id int64) error {
		run, err := c.taskRuns.CancelTaskRun(ctx, &fairleadv1.CancelTaskRunRequest{Id: id, Reason: reason})
		if err != nil {
			return err
		}
		return c.say(run, "run %d: %s", run.GetId(), run.GetStatus())
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "reason to record with the run (default: none)")
	return cmd
}
