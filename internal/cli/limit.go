package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) limitCommand() *cobra.Command {
	return s.prints(s.connects(noun("limit", "Manage limits on concurrency and rate",
		s.limitListCommand(), s.limitSetCommand(), s.limitRemoveCommand())))
}

func (s *session) limitListCommand() *cobra.Command {
	return verb("list", "List all limits and their usage, including those of tenants", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.limits.ListLimits(ctx, &fairleadv1.ListLimitsRequest{})
		if err != nil {
			return err
		}
		table := c.Table("SCOPE", "RUNNING", "MAX RUNNING", "MIN RUNNING", "RATE", "BURST", "PER KEY", "ORDER")
		for _, l := range all.GetItems() {
			table.Add(l.GetScope(), l.GetRunning(), screen.Limit(l.GetMaxRunning()), screen.Limit(l.GetMinRunning()),
				screen.Limit(l.GetRate()), screen.Limit(l.GetBurst()), screen.Limit(l.GetPerKey()), orderOf(l))
		}
		return c.printTable(all, table)
	}))
}

func (s *session) limitSetCommand() *cobra.Command {
	limit := &fairleadv1.Limit{}
	cmd := verb("set SCOPE", "Set the limit of a scope: global, queue:NAME or kind:NAME", nil)
	ask := asksWhatIf(cmd)
	cmd.Long = cmd.Short + ".\n\nSetting a limit replaces all previous values of the scope: omitted values become unlimited. To limit a tenant, use fairlead tenant update."
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		limit.Scope = c.args[0]
		if limit.GetMaxRunning() == 0 && limit.GetRate() == 0 && limit.GetBurst() == 0 && limit.GetPerKey() == 0 && limit.GetOrder() == "" {
			return Usagef("specify at least one of --max-running, --rate, --per-key and --order; to remove a limit, use fairlead limit remove")
		}
		if *ask {
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{Limit: limit})
		}
		return c.printDetails(c.limits.SetLimit(ctx, limit))
	})
	f := cmd.Flags()
	f.Int32Var(&limit.MaxRunning, "max-running", 0, "maximum number of jobs that run or wait for a result at the same time (0 = unlimited)")
	f.Float64Var(&limit.Rate, "rate", 0, "maximum number of jobs started per second (0 = unlimited)")
	f.Int32Var(&limit.Burst, "burst", 0, "number of jobs that can start at once after an idle period (0 = a tenth of --rate, at least 1)")
	f.Int32Var(&limit.PerKey, "per-key", 0, "for a kind: maximum number of running jobs per tenant and concurrency key (default 1)")
	f.StringVar(&limit.Order, "order", "", "for global or a queue: order of jobs with equal priority, deadline or fair (default: deadline for global; queues inherit the global order)")
	cmd.ValidArgsFunction = first(s.asked(limitScopes))
	return cmd
}

// orderOf returns the order of a limit for a table.
func orderOf(l *fairleadv1.Limit) string { return cmp.Or(l.GetOrder(), "-") }

func (s *session) limitRemoveCommand() *cobra.Command {
	cmd := verb("remove SCOPE", "Remove the limit of a scope", nil)
	ask := asksWhatIf(cmd)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		if *ask {
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{Limit: &fairleadv1.Limit{Scope: c.args[0]}})
		}
		answer, err := c.limits.SetLimit(ctx, &fairleadv1.Limit{Scope: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "limit of %s removed", c.args[0])
	})
	cmd.ValidArgsFunction = first(s.asked(limitScopes))
	return cmd
}
