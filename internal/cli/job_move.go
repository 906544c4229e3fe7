package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// sayJob prints the state of a job after a change.
func (c *call) sayJob(job *fairleadv1.Job, err error) error {
	if err != nil {
		return err
	}
	if job.GetState() == "running" && job.GetCancelWish() {
		return c.say(job, "asked job %d to stop", job.GetId())
	}
	return c.say(job, "job %d %s", job.GetId(), inState(job.GetState()))
}

// inState returns the predicate of a sentence about a job in a state.
func inState(state string) string {
	switch state {
	case "succeeded", "failed":
		return "has " + state
	case "cancelled", "skipped":
		return "was " + state
	}
	return "is " + state
}

func (s *session) jobCancelCommand() *cobra.Command {
	var reason string
	cmd := verb("cancel ID", "Cancel a job that has not started, or ask a running job to stop", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayJob(c.jobs.CancelJob(ctx, &fairleadv1.CancelJobRequest{Id: id, Reason: reason}))
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "reason to record with the job (default: none)")
	return cmd
}

// ready returns a command that makes a job ready and can wait for its end.
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
	return s.ready("retry ID", "Retry a failed or cancelled job", func(c *call) func(context.Context, *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
		return c.jobs.RetryJob
	})
}

func (s *session) jobRunCommand() *cobra.Command {
	return s.ready("run ID", "Run a scheduled job now", func(c *call) func(context.Context, *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
		return c.jobs.RunJob
	})
}

func (s *session) jobRescheduleCommand() *cobra.Command {
	var notBefore moment
	cmd := verb("reschedule ID", "Change the due time of a job that has not started", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayJob(c.jobs.RescheduleJob(ctx, &fairleadv1.RescheduleJobRequest{Id: id, NotBefore: notBefore.proto()}))
	}))
	cmd.Flags().Var(&notBefore, "not-before", "new due time: a timestamp, or a duration from now such as 10m (required)")
	return cmd
}

func (s *session) jobPriorityCommand() *cobra.Command {
	cmd := verb("priority ID PRIORITY", "Change the priority of a job that has not started", s.withID(func(ctx context.Context, c *call, id int64) error {
		priority, err := strconv.ParseInt(c.args[1], 10, 32)
		if err != nil {
			return Usagef("PRIORITY %q must be an integer; higher values start first", c.args[1])
		}
		job, err := c.jobs.SetJobPriority(ctx, &fairleadv1.SetJobPriorityRequest{Id: id, Priority: int32(priority)})
		if err != nil {
			return err
		}
		return c.say(job, "job %d now has priority %d", job.GetId(), job.GetPriority())
	}))
	cmd.Example = "  fairlead job priority 17 5\n  fairlead job priority -- 17 -5"
	return cmd
}

func (s *session) jobMoveCommand() *cobra.Command {
	return verb("move ID QUEUE", "Move a job that has not started to another queue", s.withID(func(ctx context.Context, c *call, id int64) error {
		job, err := c.jobs.MoveJob(ctx, &fairleadv1.MoveJobRequest{Id: id, Queue: c.args[1]})
		if err != nil {
			return err
		}
		return c.say(job, "job %d is %s in queue %s", job.GetId(), job.GetState(), job.GetQueue())
	}))
}

func (s *session) jobFinishCommand() *cobra.Command {
	var fence int64
	var result string
	cmd := verb("finish ID", "Report success for a job that is waiting for a result", s.withID(func(ctx context.Context, c *call, id int64) error {
		request := &fairleadv1.FinishJobRequest{Id: id, Fence: fence}
		if result != "" {
			var err error
			if request.Output, err = readDocument("--result", result, c.in); err != nil {
				return err
			}
		}
		return c.sayJob(c.jobs.FinishJob(ctx, request))
	}))
	cmd.Flags().StringVar(&result, "result", "", "output of the job: JSON, @FILE, or - for standard input (default: none)")
	cmd.Flags().Int64Var(&fence, "fence", 0, "fence of the reported run (0 = the current run)")
	return cmd
}

func (s *session) jobFailCommand() *cobra.Command {
	var fence int64
	var reason string
	var final bool
	cmd := verb("fail ID", "Report failure for a job that is waiting for a result", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayJob(c.jobs.FailJob(ctx, &fairleadv1.FailJobRequest{Id: id, Fence: fence, Error: reason, Final: final}))
	}))
	cmd.Flags().BoolVar(&final, "final", false, "fail the job even if it has attempts left")
	cmd.Flags().StringVar(&reason, "error", "", "error message to record (required)")
	cmd.Flags().Int64Var(&fence, "fence", 0, "fence of the reported run (0 = the current run)")
	return cmd
}

func (s *session) jobDeleteCommand() *cobra.Command {
	return verb("delete ID", "Delete a job and its history; running jobs cannot be deleted", s.withID(func(ctx context.Context, c *call, id int64) error {
		answer, err := c.jobs.DeleteJob(ctx, &fairleadv1.GetJobRequest{Id: id})
		if err != nil {
			return err
		}
		return c.say(answer, "job %d deleted", id)
	}))
}
