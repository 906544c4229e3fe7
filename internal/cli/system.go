package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func (s *session) statsCommand() *cobra.Command {
	return s.prints(s.connects(verb("stats", "Show job counts and rates, in total and per tenant", s.runs(func(ctx context.Context, c *call) error {
		stats, err := c.system.GetStats(ctx, &fairleadv1.GetStatsRequest{})
		if err != nil {
			return err
		}
		return c.printTable(stats, usageTable(c.Screen, append([]*fairleadv1.Usage{stats.GetTotal()}, stats.GetTenants()...)...))
	}))))
}

func (s *session) verifyCommand() *cobra.Command {
	cmd := verb("verify", "Verify the job counts of all limits and correct any drift", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.limits.Verify(ctx, &fairleadv1.VerifyRequest{})
		if err != nil {
			return err
		}
		drift := len(answer.GetItems())
		if drift == 0 {
			return c.say(answer, "all limits have correct counts")
		}
		table := c.Table("SCOPE", "COUNTED", "FOUND")
		for _, d := range answer.GetItems() {
			table.Add(d.GetScope(), d.GetCounted(), d.GetFound())
		}
		if err := c.printTable(answer, table); err != nil {
			return err
		}
		return failf(ExitFailure, "limits with corrected counts: %d", drift)
	}))
	cmd.Long = cmd.Short + ". Counts should never drift: the command exits with code 1 if any of them had."
	return s.prints(s.connects(cmd))
}
