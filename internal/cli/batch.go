package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// taskStates lists the states of a batch's tasks.
var taskStates = []string{
	"pending", "running", "success", "fail", "retry_pending", "rollback_pending", "rollback_running", "rollback_success", "rollback_fail", "cancel",
}

func (s *session) batchCommand() *cobra.Command {
	return s.prints(s.connects(noun("batch", "Manage batches, which apply one operation to many targets",
		s.batchCreateCommand(), s.batchGetCommand(), s.batchListCommand(), s.batchExplainCommand(), s.batchTasksCommand(), s.batchWatchCommand(),
		s.batchCancelCommand(), s.batchRetryCommand(), s.batchRollbackCommand(),
		s.batchApproveCommand(), s.batchPauseCommand(), s.batchResumeCommand(), s.batchSetCommand(),
	)))
}

func (s *session) batchGetCommand() *cobra.Command {
	return verb("get ID", "Show a batch", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.printDetails(c.batches.GetBatch(ctx, &fairleadv1.GetBatchRequest{Id: id}))
	}))
}

func (s *session) batchListCommand() *cobra.Command {
	filter := &fairleadv1.ListBatchesRequest{}
	var limit int
	cmd := verb("list", "List batches, newest first", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListBatchesResponse, error) {
			filter.PageSize, filter.PageToken = size, token
			return c.batches.ListBatches(ctx, filter)
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("ID", "STATE", "NAME", "TYPE", "TENANT", "QUEUE", "DONE", "TASKS", "FAILED", "CREATED", "NOTE")
		for _, b := range items {
			table.Add(b.GetId(), screen.State(b.GetState()), b.GetName(), b.GetType(), b.GetTenant(), b.GetQueue(), b.GetDone(), b.GetTotal(), failures(b), b.GetCreatedAt(), batchNote(b))
		}
		return c.printTable(&fairleadv1.ListBatchesResponse{Items: items, NextPageToken: next}, table)
	}))
	f := cmd.Flags()
	f.StringSliceVar(&filter.Name, "name", nil, "only batches with this name (repeatable)")
	f.StringSliceVar(&filter.Type, "type", nil, "only batches of this type (repeatable)")
	f.StringSliceVar(&filter.Queue, "queue", nil, "only batches in this queue (repeatable)")
	f.StringSliceVar(&filter.Tenant, "tenant", nil, "only batches of this tenant (repeatable)")
	f.BoolVar(&filter.Open, "open", false, "only batches that have not completed")
	f.StringSliceVar(&filter.State, "state", nil, "only batches in this state (repeatable)")
	f.StringSliceVar(&filter.Creator, "creator", nil, "only batches created by this user (repeatable)")
	f.StringSliceVar(&filter.Env, "env", nil, "only batches in this environment (repeatable)")
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
	limits(cmd, &limit)
	return cmd
}

// failures returns the number of failed tasks of a batch, including failed rollbacks.
func failures(b *fairleadv1.Batch) int32 {
	return b.GetTally().GetFail() + b.GetTally().GetRollbackFail()
}

// batchNote returns the reason why a batch does not continue, and the number of its
// doubtful tasks.
func batchNote(b *fairleadv1.Batch) string {
	note := standingNote(b)
	if n := b.GetDoubtful(); n > 0 {
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf("%d doubtful", n)
	}
	return note
}

// standingNote returns what a batch waits for, or why it was stopped.
func standingNote(b *fairleadv1.Batch) string {
	switch {
	case b.GetPaused() && b.GetReason() != "":
		return "paused: " + b.GetReason()
	case b.GetPaused():
		return "paused"
	case b.GetAwaiting():
		return "awaiting approval"
	}
	return b.GetReason()
}

func (s *session) batchTasksCommand() *cobra.Command {
	filter := &fairleadv1.ListBatchTasksRequest{}
	var limit int
	cmd := verb("tasks ID", "List the tasks of a batch", s.withID(func(ctx context.Context, c *call, id int64) error {
		filter.Id = id
		all, err := c.listTasks(ctx, filter, limit)
		if err != nil {
			return err
		}
		c.noteMore(all.GetNextPageToken(), limit)
		return c.printTable(all, taskTable(c.Screen, all.GetItems()))
	}))
	cmd.Flags().StringSliceVar(&filter.State, "state", nil, "only tasks in this state (repeatable): "+strings.Join(taskStates, ", "))
	complete(cmd, "state", oneOf(taskStates...))
	cmd.Flags().BoolVar(&filter.Doubtful, "doubtful", false, "only tasks that may have run even though the database lost the record")
	limits(cmd, &limit)
	return cmd
}

// listTasks returns tasks of a batch. If limit is 0, it returns all.
func (c *call) listTasks(ctx context.Context, filter *fairleadv1.ListBatchTasksRequest, limit int) (*fairleadv1.ListBatchTasksResponse, error) {
	items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListBatchTasksResponse, error) {
		filter.PageSize, filter.PageToken = size, token
		return c.batches.ListBatchTasks(ctx, filter)
	})
	return &fairleadv1.ListBatchTasksResponse{Items: items, NextPageToken: next}, err
}

func taskTable(s *screen.Screen, tasks []*fairleadv1.BatchTask) *screen.Table {
	table := s.Table("TASK", "STATE", "TARGET", "NAME", "TYPE", "RETRIES", "UPDATED", "INFO")
	for _, t := range tasks {
		target := t.GetTarget()
		table.Add(t.GetId(), screen.State(t.GetState()), target.GetId(), target.GetName(), target.GetType(), t.GetRetries(), t.GetUpdatedAt(), taskInfo(t))
	}
	return table
}

// taskInfo returns why a task failed and whether it is doubtful.
func taskInfo(t *fairleadv1.BatchTask) string {
	switch {
	case !t.GetDoubtful():
		return t.GetInfo()
	case t.GetInfo() == "":
		return "doubtful"
	}
	return "doubtful; " + t.GetInfo()
}

func taskCount(n int32) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
