package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchFairCommand returns the command for the workload of tenants that share starts by
// weight.
func newBenchFairCommand(o *benchOptions) *cobra.Command {
	f := bench.Fairness{}
	cmd := &cobra.Command{
		Use:   bench.Fair,
		Short: "Measure how job starts are divided among tenants by weight, and the cost of doing so",
		Long: "Measure how job starts are divided among tenants by weight, and the cost of doing so: three tenants with more jobs than\n" +
			"can start, on four nodes. The benchmark reports the share of each tenant in the first starts (--jobs,\n" +
			"default 50,000), in fair order and by deadline.\n\n" +
			"It creates tenants and sets the order of its own queue, and removes both at the end.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchFair(cmd, *o, f) },
	}
	cmd.Flags().IntVar(&f.Pairs, "pairs", 0, "number of measurement pairs: one in deadline order and one in fair order (default 5)")
	return cmd
}

func runBenchFair(cmd *cobra.Command, o benchOptions, f bench.Fairness) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if f.Pairs < 0 {
		return usagef("--pairs %d must not be negative", f.Pairs)
	}
	f.Jobs, f.Progress = o.spec.Jobs, bench.NewProgress(cmd.ErrOrStderr())
	f.Open = func(ctx context.Context) (driver.Store, error) {
		store, err := openStore(ctx, o.db)
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	if f.Server, err = bench.OpenServer(cmd.Context(), o.db); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, f.Server.Close()) }()
	result, err := f.Run(cmd.Context())
	return o.showMeasured(cmd, result, err)
}
