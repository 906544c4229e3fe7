package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// saySweep says how a sweep stands after a call changed it, or returns the call's error.
func (c *call) saySweep(sweep *fairleadv1.Sweep, err error) error {
	if err != nil {
		return err
	}
	text := fmt.Sprintf("sweep %s is %s", sweep.GetName(), sweep.GetState())
	if reason := sweep.GetReason(); reason != "" {
		text += " (" + reason + ")"
	}
	return c.say(sweep, "%s", text)
}

func (s *session) sweepStartCommand() *cobra.Command {
	var again bool
	var wait waiting
	cmd := verb("start NAME", "Let a sweep run; one with a gate waits until it is opened", nil)
	cmd.Long = "Let a sweep run that is created or stopped. If it has a gate the business gets a message, and the sweep waits until it is opened.\n\n" +
		"With --wait it ends when the sweep is stopped or finished, with exit code 7 if it is stopped."
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.StartSweep(ctx, &fairleadv1.StartSweepRequest{Id: about.GetId(), Again: again})
		if err == nil && wait.asked(cmd) {
			return wait.sweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, err)
	})
	cmd.Flags().BoolVar(&again, "again", false, "let one that has finished go over its items from the beginning")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepRetryCommand() *cobra.Command {
	var indexes []int64
	var wait waiting
	cmd := verb("retry NAME", "Try failed items again; a stopped sweep goes on with the rest then", nil)
	cmd.Long = "Try failed items again: those that --index names, or all. The sweep must be stopped or finished; one that is stopped " +
		"goes on with the rest then. As with start, items that failed before take nothing from the error budget.\n\n" +
		"With --wait it ends when the sweep is stopped or finished, with exit code 7 if it is stopped."
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.RetrySweep(ctx, &fairleadv1.RetrySweepRequest{Id: about.GetId(), Indexes: indexes})
		if err == nil && wait.asked(cmd) {
			return wait.sweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, err)
	})
	cmd.Flags().Int64SliceVar(&indexes, "index", nil, "of a failed item (repeatable)")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepStopCommand() *cobra.Command {
	var reason string
	var wait waiting
	cmd := verb("stop NAME", "Let no more items begin; those in flight end", nil)
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.StopSweep(ctx, &fairleadv1.StopSweepRequest{Id: about.GetId(), Reason: reason})
		if err == nil && wait.asked(cmd) {
			sweep, err = wait.forSweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, err)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is shown")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepOpenCommand() *cobra.Command {
	return verb("open NAME", "Let a sweep run that waits for the business", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		return c.saySweep(c.sweeps.OpenSweep(ctx, about))
	}))
}
