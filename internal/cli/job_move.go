package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// sayJob says how a job is now.
func (c *call) sayJob(job *fairleadv1.Job, err error) error {
	if err != nil {
		return err
	}
	if job.GetState() == "running" && job.GetCancelWish() {
		return c.say(job, "job %d is asked to stop", job.GetId())
	}
	return c.say(job, "job %d is %s", job.GetId(), job.GetState())
}

func (s *session) jobCancelCommand() *cobra.Command {
	var reason string
	cmd := verb("cancel ID", "End a job that has not started, or ask a running one to stop", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayJob(c.jobs.CancelJob(ctx, &fairleadv1.CancelJobRequest{Id: id, Reason: reason}))
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who look later")
	return cmd
}

// ready is a command that makes a job ready, and may wait for it.
func (s *session) ready(use, short string, move func(c *call) func(context.Context, *fairleadv1.GetJobRequest) (*fairleadv1.Job, error)) *cobra.Command {
	var wait waiting
	cmd := verb(use, short, nil)
	cmd.RunE = s.withID(func(ctx context.Context, c *call, id int64) error {
		job, err := move(c)(ctx, &fairleadv1.GetJobRequest{Id: id})
		if err == nil && wait.asked(cmd) {
			return wait.all(ctx, c, []int64{id})
		}
		return c.sayJob(job, err)
	})
	wait.flag(cmd)
	return cmd
}

func (s *session) jobRetryCommand() *cobra.Command {
	return s.ready("retry ID", "Make a failed or cancelled job ready again", func(c *call) func(context.Context, *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
		return c.jobs.RetryJob
	})
}

func (s *session) jobRunCommand() *cobra.Command {
	return s.ready("run ID", "Make a scheduled job ready at once", func(c *call) func(context.Context, *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
		return c.jobs.RunJob
	})
}

func (s *session) jobRescheduleCommand() *cobra.Command {
	var notBefore moment
	cmd := verb("reschedule ID", "Set when a job that has not started becomes due", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayJob(c.jobs.RescheduleJob(ctx, &fairleadv1.RescheduleJobRequest{Id: id, NotBefore: notBefore.proto()}))
	}))
	cmd.Flags().Var(&notBefore, "not-before", "a time, or a span such as 10m")
	return cmd
}

func (s *session) jobPriorityCommand() *cobra.Command {
	cmd := verb("priority ID PRIORITY", "Change the priority of a job that has not started", s.withID(func(ctx context.Context, c *call, id int64) error {
		priority, err := strconv.ParseInt(c.args[1], 10, 32)
		if err != nil {
			return Usagef("PRIORITY %q: it must be a whole number; higher goes first", c.args[1])
		}
		job, err := c.jobs.SetJobPriority(ctx, &fairleadv1.SetJobPriorityRequest{Id: id, Priority: int32(priority)})
		if err != nil {
			return err
		}
		return c.say(job, "job %d has priority %d", job.GetId(), job.GetPriority())
	}))
	cmd.Example = "  fairlead job priority 17 5\n  fairlead job priority -- 17 -5"
	return cmd
}

func (s *session) jobMoveCommand() *cobra.Command {
	return verb("move ID QUEUE", "Put a job that has not started into another queue", s.withID(func(ctx context.Context, c *call, id int64) error {
		job, err := c.jobs.MoveJob(ctx, &fairleadv1.MoveJobRequest{Id: id, Queue: c.args[1]})
		if err != nil {
			return err
		}
		return c.say(job, "job %d is %s in the queue %s", job.GetId(), job.GetState(), job.GetQueue())
	}))
}

func (s *session) jobFinishCommand() *cobra.Command {
	var fence int64
	var result string
	cmd := verb("finish ID", "Answer for a job that waits: it has succeeded", s.withID(func(ctx context.Context, c *call, id int64) error {
		request := &fairleadv1.FinishJobRequest{Id: id, Fence: fence}
		if result != "" {
			var err error
			if request.Output, err = readDocument("--result", result, c.in); err != nil {
				return err
			}
		}
		return c.sayJob(c.jobs.FinishJob(ctx, request))
	}))
	cmd.Flags().StringVar(&result, "result", "", "the job's output: JSON, @FILE or - for what is piped in")
	cmd.Flags().Int64Var(&fence, "fence", 0, "of the run that is answered for (0: the current one)")
	return cmd
}

func (s *session) jobFailCommand() *cobra.Command {
	var fence int64
	var reason string
	var final bool
	cmd := verb("fail ID", "Answer for a job that waits: its attempt has failed", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayJob(c.jobs.FailJob(ctx, &fairleadv1.FailJobRequest{Id: id, Fence: fence, Error: reason, Final: final}))
	}))
	cmd.Flags().BoolVar(&final, "final", false, "whatever attempts are left, the job has failed")
	cmd.Flags().StringVar(&reason, "error", "", "what went wrong (required)")
	cmd.Flags().Int64Var(&fence, "fence", 0, "of the run that is answered for (0: the current one)")
	return cmd
}

func (s *session) jobDeleteCommand() *cobra.Command {
	return verb("delete ID", "Remove a job that is not running, with its history", s.withID(func(ctx context.Context, c *call, id int64) error {
		answer, err := c.jobs.DeleteJob(ctx, &fairleadv1.GetJobRequest{Id: id})
		if err != nil {
			return err
		}
		return c.say(answer, "job %d is deleted", id)
	}))
}
