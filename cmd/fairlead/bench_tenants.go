package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchTenantsCommand returns the command for a workload that requires a database of its
// own, because it sets limits.
func newBenchTenantsCommand(o *benchOptions) *cobra.Command {
	var t bench.Tenancy
	cmd := &cobra.Command{
		Use:   bench.Tenants,
		Short: "Measure the cost of limits, and the effect of a capped tenant on other tenants",
		Long: "Measure the cost of limits, and the effect of a tenant at its cap on other tenants. Each part runs with\n" +
			"and without the limits it measures. With -o json, each part is one line.\n\n" +
			"The benchmark sets limits, including the global one: use a database that no other program uses.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchTenants(cmd, *o, t) },
	}
	cmd.Flags().StringVar(&t.Only, "part", "", "run only this part: caps-1, caps-4, global-4, binding, crowd or many (default: all)")
	cmd.Flags().IntVar(&t.Pairs, "pairs", 0, "number of measurement pairs: one with limits and one without (default 5)")
	cmd.Flags().IntVar(&t.Backlog, "backlog", 0, "number of ready jobs of the capped tenant (default 1,000,000)")
	return cmd
}

func runBenchTenants(cmd *cobra.Command, o benchOptions, t bench.Tenancy) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if t.Pairs < 0 || t.Backlog < 0 {
		return usagef("--pairs and --backlog must not be negative")
	}
	t.Jobs, t.Seconds, t.Progress = o.spec.Jobs, o.spec.Seconds, bench.NewProgress(cmd.ErrOrStderr())
	t.Open = func(ctx context.Context) (driver.Store, error) {
		store, err := openStore(ctx, o.db)
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	if t.Server, err = bench.OpenServer(cmd.Context(), o.db); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, t.Server.Close()) }()
	return showParts(cmd, o, func(done func(bench.Part) error) error { return t.Run(cmd.Context(), done) })
}
