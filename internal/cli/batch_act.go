package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// sayBatch prints the state of a batch after a call changed it, or returns the call's
// error.
func (c *call) sayBatch(batch *fairleadv1.Batch, err error) error {
	if err != nil {
		return err
	}
	text := fmt.Sprintf("batch %d: %s", batch.GetId(), batch.GetState())
	if note := batchNote(batch); note != "" {
		text += " (" + note + ")"
	}
	return c.say(batch, "%s", text)
}

func (s *session) batchCancelCommand() *cobra.Command {
	var reason string
	cmd := verb("cancel ID", "Cancel a batch but let its running tasks finish", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayBatch(c.batches.CancelBatch(ctx, &fairleadv1.CancelBatchRequest{Id: id, Reason: reason}))
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "reason for cancelling, shown with the batch (default: none)")
	return cmd
}

func (s *session) batchPauseCommand() *cobra.Command {
	var reason string
	cmd := verb("pause ID", "Pause a batch; running tasks finish", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayBatch(c.batches.PauseBatch(ctx, &fairleadv1.PauseBatchRequest{Id: id, Reason: reason}))
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "reason for pausing, shown with the batch (default: none)")
	return cmd
}

func (s *session) batchResumeCommand() *cobra.Command {
	return verb("resume ID", "Resume a paused batch", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayBatch(c.batches.ResumeBatch(ctx, &fairleadv1.GetBatchRequest{Id: id}))
	}))
}

func (s *session) batchApproveCommand() *cobra.Command {
	return verb("approve ID", "Approve a canary and release the remaining tasks", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.sayBatch(c.batches.ApproveBatch(ctx, &fairleadv1.GetBatchRequest{Id: id}))
	}))
}

func (s *session) batchSetCommand() *cobra.Command {
	var most int32
	var rate float64
	cmd := verb("set ID", "Change the concurrency or rate of a batch", nil)
	cmd.RunE = s.withID(func(ctx context.Context, c *call, id int64) error {
		change := &fairleadv1.PatchBatchRequest{Id: id}
		if cmd.Flags().Changed("max-running") {
			change.MaxRunning = &most
		}
		if cmd.Flags().Changed("rate") {
			change.Rate = &rate
		}
		if change.MaxRunning == nil && change.Rate == nil {
			return Usagef("specify --max-running, --rate or both")
		}
		return c.printDetails(c.batches.PatchBatch(ctx, change))
	})
	cmd.Flags().Int32Var(&most, "max-running", 0, "maximum number of tasks running at once (0 = unlimited)")
	cmd.Flags().Float64Var(&rate, "rate", 0, "maximum number of tasks started per second (0 = unlimited)")
	return cmd
}

func (s *session) batchRetryCommand() *cobra.Command {
	var tasks []int64
	var wait waiting
	cmd := verb("retry ID", "Retry the failed tasks of a batch", nil)
	cmd.RunE = s.withID(func(ctx context.Context, c *call, id int64) error {
		batch, err := c.batches.RetryBatch(ctx, &fairleadv1.RetryBatchRequest{Id: id, Tasks: tasks})
		if err == nil && wait.asked(cmd) {
			return wait.batch(ctx, c, id)
		}
		return c.sayBatch(batch, err)
	})
	cmd.Flags().Int64SliceVar(&tasks, "task", nil, "only the task with this ID (repeatable)")
	wait.flag(cmd)
	return cmd
}

func (s *session) batchRollbackCommand() *cobra.Command {
	request := &fairleadv1.RollBackBatchRequest{}
	var wait waiting
	cmd := verb("rollback ID", "Roll back a batch by restoring each target's previous state", nil)
	cmd.Long = "Roll back a batch, or only the tasks given with --task, by restoring each target's previous state. The most recently completed tasks are undone first. " +
		"Once the rollback of a whole batch has begun, its tasks cannot be retried. If some tasks fail to roll back, run the command again.\n\n" +
		"--dry-run shows the tasks that would be undone and the state that would be restored."
	cmd.RunE = s.withID(func(ctx context.Context, c *call, id int64) error {
		request.Id = id
		batch, err := c.batches.RollBackBatch(ctx, request)
		if err != nil {
			return err
		}
		switch {
		case request.GetDryRun():
			return c.printTable(batch, undoTable(c, batch))
		case wait.asked(cmd):
			return wait.batch(ctx, c, id)
		}
		return c.sayBatch(batch, nil)
	})
	f := cmd.Flags()
	f.Int64SliceVar(&request.Tasks, "task", nil, "only the task with this ID (repeatable)")
	f.BoolVar(&request.IncludeFailed, "include-failed", false, "also roll back tasks that failed after they started")
	f.BoolVar(&request.Serial, "serial", false, "roll back one task at a time")
	f.BoolVar(&request.DryRun, "dry-run", false, "show the tasks that would be rolled back, without changing anything")
	wait.flag(cmd)
	return cmd
}

// undoTable returns a table of the tasks that a rollback would undo.
func undoTable(c *call, batch *fairleadv1.Batch) *screen.Table {
	table := c.Table("TASK", "STATE", "TARGET", "NAME", "TYPE", "WOULD RESTORE")
	for _, t := range batch.GetWouldUndo() {
		before := screen.Cell{Text: string(t.GetBefore())}
		if len(t.GetBefore()) == 0 {
			before = screen.Cell{Text: "unknown", Tone: screen.Warn}
		} else if t.GetDoubtful() {
			before = screen.Cell{Text: "doubtful: " + before.Text, Tone: screen.Warn}
		}
		target := t.GetTarget()
		table.Add(t.GetId(), screen.State(t.GetState()), target.GetId(), target.GetName(), target.GetType(), before)
	}
	if c.format == "table" {
		fmt.Fprintf(c.errors.Out, "%s of batch %d would be undone, in this order\n", taskCount(batch.GetWouldUndoTotal()), batch.GetId())
		if n := batch.GetDoubtful(); n > 0 {
			fmt.Fprintf(c.errors.Out, "%s may have run even though the database lost the record: compare the targets with the state that would be restored (fairlead batch tasks %d --doubtful)\n", taskCount(n), batch.GetId())
		}
	}
	return table
}
