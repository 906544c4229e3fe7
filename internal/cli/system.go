package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func (s *session) statsCommand() *cobra.Command {
	return s.prints(s.connects(verb("stats", "Show what all jobs together have and do, and those of each tenant", s.runs(func(ctx context.Context, c *call) error {
		stats, err := c.system.GetStats(ctx, &fairleadv1.GetStatsRequest{})
		if err != nil {
			return err
		}
		return c.printTable(stats, usageTable(c.Screen, append([]*fairleadv1.Usage{stats.GetTotal()}, stats.GetTenants()...)...))
	}))))
}

func (s *session) verifyCommand() *cobra.Command {
	cmd := verb("verify", "Count the jobs of each limit anew, correct what differs and report it", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.limits.Verify(ctx, &fairleadv1.VerifyRequest{})
		if err != nil {
			return err
		}
		drift := len(answer.GetItems())
		if drift == 0 {
			return c.say(answer, "every limit counts what there is")
		}
		table := c.Table("SCOPE", "COUNTED", "FOUND")
		for _, d := range answer.GetItems() {
			table.Add(d.GetScope(), d.GetCounted(), d.GetFound())
		}
		if err := c.printTable(answer, table); err != nil {
			return err
		}
		return failf(ExitFailure, "%d limits counted what was not there; they are corrected now", drift)
	}))
	cmd.Long = cmd.Short + ". There should never be anything: the exit code is 1 if there was."
	return s.prints(s.connects(cmd))
}
