package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// saySweep prints the state of a sweep after a call changed it, or returns the call's
// error.
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
	cmd := verb("start NAME", "Start a created or stopped sweep", nil)
	cmd.Long = "Start a created or stopped sweep. If the sweep has a before-run gate, the server calls the gate's URL, and the sweep waits until \"fairlead sweep open\" is run.\n\n" +
		"With --wait, the command waits until the sweep stops or finishes and exits with code 7 if it stopped."
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.StartSweep(ctx, &fairleadv1.StartSweepRequest{Id: about.GetId(), Again: again})
		if err == nil && wait.asked(cmd) {
			return wait.sweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, err)
	})
	cmd.Flags().BoolVar(&again, "again", false, "restart a finished sweep from its first item")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepRetryCommand() *cobra.Command {
	var indexes []int64
	var wait waiting
	cmd := verb("retry NAME", "Retry the failed items of a sweep", nil)
	cmd.Long = "Retry the failed items of a sweep: those given with --index, or all of them. The sweep must be stopped or finished; a stopped sweep " +
		"then continues with its remaining items. As with start, the error budget is reset.\n\n" +
		"With --wait, the command waits until the sweep stops or finishes and exits with code 7 if it stopped."
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.RetrySweep(ctx, &fairleadv1.RetrySweepRequest{Id: about.GetId(), Indexes: indexes})
		if err == nil && wait.asked(cmd) {
			return wait.sweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, err)
	})
	cmd.Flags().Int64SliceVar(&indexes, "index", nil, "index of a failed item to retry (repeatable; default: all failed items)")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepStopCommand() *cobra.Command {
	var reason string
	var wait waiting
	cmd := verb("stop NAME", "Stop a sweep but let its items in flight finish", nil)
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.StopSweep(ctx, &fairleadv1.StopSweepRequest{Id: about.GetId(), Reason: reason})
		if err == nil && wait.asked(cmd) {
			sweep, err = wait.forSweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, err)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "reason for stopping, shown with the sweep (default: none)")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepOpenCommand() *cobra.Command {
	return verb("open NAME", "Open the gate of a waiting sweep so that it runs", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		return c.saySweep(c.sweeps.OpenSweep(ctx, about))
	}))
}
