package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) jobCommand() *cobra.Command {
	return s.prints(s.connects(noun("job", "Enqueue, inspect and manage jobs",
		s.jobEnqueueCommand(), s.jobGetCommand(), s.jobListCommand(), s.jobCountCommand(), s.jobExplainCommand(), s.jobAttemptsCommand(), s.jobWatchCommand(),
		s.jobCancelCommand(), s.jobRetryCommand(), s.jobRunCommand(), s.jobRescheduleCommand(), s.jobPriorityCommand(), s.jobMoveCommand(),
		s.jobFinishCommand(), s.jobFailCommand(), s.jobDeleteCommand(), s.jobBulkCommand(),
	)))
}

// withID returns the function of a command whose first argument is an ID.
func (s *session) withID(do func(ctx context.Context, c *call, id int64) error) func(*cobra.Command, []string) error {
	return s.runs(func(ctx context.Context, c *call) error {
		id, err := parseID(c.args[0])
		if err != nil {
			return err
		}
		return do(ctx, c, id)
	})
}

func (s *session) jobGetCommand() *cobra.Command {
	var reveal bool
	cmd := verb("get ID", "Show a job", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.printDetails(c.jobs.GetJob(ctx, &fairleadv1.GetJobRequest{Id: id, Reveal: reveal}))
	}))
	cmd.Flags().BoolVar(&reveal, "reveal", false, "show confidential fields; requires the admin role and is recorded in the audit log")
	return cmd
}

// jobFilter holds the flags that select jobs.
type jobFilter struct {
	states, kinds, queues, tenants []string
	key                            string
	from, to, finished             moment
}

func (s *session) filters(cmd *cobra.Command, f *jobFilter) {
	f.from.past, f.to.past, f.finished.past = true, true, true
	flags := cmd.Flags()
	flags.StringSliceVar(&f.states, "state", nil, "only jobs in this state (repeatable): "+strings.Join(states, ", "))
	flags.StringSliceVar(&f.kinds, "kind", nil, "only jobs of this kind (repeatable)")
	flags.StringSliceVar(&f.queues, "queue", nil, "only jobs in this queue (repeatable)")
	flags.StringSliceVar(&f.tenants, "tenant", nil, "only jobs of this tenant (repeatable)")
	flags.StringVar(&f.key, "key", "", "only the job with this unique key")
	flags.Var(&f.from, "from", "only jobs created at or after this time: a timestamp, or a duration such as 2h for two hours ago")
	flags.Var(&f.to, "to", "only jobs created before this time: a timestamp, or a duration such as 1h for an hour ago")
	flags.Var(&f.finished, "finished-from", "only jobs that ended at or after this time: a timestamp, or a duration such as 2h for two hours ago")
	complete(cmd, "state", oneOf(states...))
	complete(cmd, "kind", s.asked(kindNames))
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
}

// jobMaker holds the flags that select jobs by their creator.
type jobMaker struct {
	schedule string // ID or name
	batch    int64
}

func (s *session) makers(cmd *cobra.Command, m *jobMaker) {
	cmd.Flags().StringVar(&m.schedule, "schedule", "", "only runs of the schedule with this ID or name")
	cmd.Flags().Int64Var(&m.batch, "batch", 0, "only jobs of the batch with this ID")
	complete(cmd, "schedule", s.asked(scheduleNames))
}

func (s *session) jobListCommand() *cobra.Command {
	var filter jobFilter
	var maker jobMaker
	var limit int
	cmd := verb("list", "List jobs, newest first", s.runs(func(ctx context.Context, c *call) error {
		schedule, err := c.scheduleID(ctx, maker.schedule)
		if err != nil {
			return err
		}
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListJobsResponse, error) {
			return c.jobs.ListJobs(ctx, &fairleadv1.ListJobsRequest{
				State: filter.states, Kind: filter.kinds, Queue: filter.queues, Tenant: filter.tenants, Key: filter.key,
				From: filter.from.proto(), To: filter.to.proto(), PageSize: size, PageToken: token,
				FinishedFrom: filter.finished.proto(), Schedule: schedule, Batch: maker.batch,
			})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		return c.printTable(&fairleadv1.ListJobsResponse{Items: items, NextPageToken: next}, jobTable(c.Screen, items))
	}))
	s.filters(cmd, &filter)
	s.makers(cmd, &maker)
	limits(cmd, &limit)
	return cmd
}

// jobTable returns a table with the most important fields of jobs.
func jobTable(s *screen.Screen, jobs []*fairleadv1.Job) *screen.Table {
	table := s.Table("ID", "STATE", "KIND", "TENANT", "QUEUE", "ATTEMPT", "CREATED", "NOTE")
	for _, job := range jobs {
		table.Add(job.GetId(), screen.State(job.GetState()), job.GetKind(), job.GetTenant(), job.GetQueue(), job.GetAttempt(), job.GetCreatedAt(), jobNote(s, job))
	}
	return table
}

func jobNote(s *screen.Screen, job *fairleadv1.Job) string {
	switch state := job.GetState(); {
	case state == "scheduled":
		return "due " + s.When(job.GetNotBefore().AsTime())
	case state == "running" && job.GetCancelWish():
		return "stop requested"
	case state == "running":
		return fmt.Sprintf("on node %d", job.GetNode())
	case state == "waiting" && job.GetDeadline() != nil:
		return "times out " + s.When(job.GetDeadline().AsTime())
	}
	return job.GetError()
}

func (s *session) jobAttemptsCommand() *cobra.Command {
	return verb("attempts ID", "List the attempts of a job that failed, timed out or crashed", s.withID(func(ctx context.Context, c *call, id int64) error {
		all, err := c.jobs.ListAttempts(ctx, &fairleadv1.GetJobRequest{Id: id})
		if err != nil {
			return err
		}
		table := c.Table("ATTEMPT", "NODE", "STARTED", "DURATION", "REASON", "ERROR")
		for _, a := range all.GetItems() {
			table.Add(a.GetRun(), a.GetNode(), a.GetStartedAt(), a.GetFinishedAt().AsTime().Sub(a.GetStartedAt().AsTime()), a.GetReason(), a.GetError())
		}
		return c.printTable(all, table)
	}))
}
