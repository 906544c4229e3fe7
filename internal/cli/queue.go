package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func (s *session) queueCommand() *cobra.Command {
	return s.prints(s.connects(noun("queue", "List, pause and resume queues",
		s.queueListCommand(), s.queuePauseCommand(), s.queueResumeCommand())))
}

func (s *session) queueListCommand() *cobra.Command {
	return verb("list", "List queues that have live jobs, are served by a node or are paused", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.queues.ListQueues(ctx, &fairleadv1.ListQueuesRequest{})
		if err != nil {
			return err
		}
		table := c.Table("NAME", "SCHEDULED", "PARKED", "READY", "RUNNING", "WAITING", "OLDEST WAIT", "PAUSED", "REASON")
		for _, q := range all.GetItems() {
			table.Add(q.GetName(), q.GetScheduled(), q.GetParked(), q.GetReady(), q.GetRunning(), q.GetWaiting(), q.GetOldestWait(), pausedCell(q.GetPaused()), q.GetPauseReason())
		}
		return c.printTable(all, table)
	}))
}

func (s *session) queuePauseCommand() *cobra.Command {
	var reason string
	cmd := verb("pause NAME", "Pause a queue; its running jobs continue", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.queues.PauseQueue(ctx, &fairleadv1.QueueRequest{Name: c.args[0], Reason: reason})
		if err != nil {
			return err
		}
		return c.say(answer, "queue %s paused", c.args[0])
	}))
	pauseReason(cmd, &reason)
	cmd.ValidArgsFunction = first(s.asked(queueNames))
	return cmd
}

func (s *session) queueResumeCommand() *cobra.Command {
	cmd := verb("resume NAME", "Resume a paused queue", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.queues.ResumeQueue(ctx, &fairleadv1.QueueRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "queue %s resumed", c.args[0])
	}))
	cmd.ValidArgsFunction = first(s.asked(queueNames))
	return cmd
}
