package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchBatchCommand is the workload of one large batch.
func newBenchBatchCommand(o *benchOptions) *cobra.Command {
	return &cobra.Command{
		Use:   bench.BatchWorkload,
		Short: "A batch of tasks that do nothing, against as many plain jobs",
		Long: "A batch of tasks that do nothing (--jobs, 0: 1,000,000): how long it takes to create, how fast\n" +
			"it runs, how long it takes to read how it stands; and how fast as many plain jobs run.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchBatch(cmd, *o) },
	}
}

func runBenchBatch(cmd *cobra.Command, o benchOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.spec.Jobs > fairlead.MaxTasks {
		return usagef("--jobs %d: a batch has at most %d tasks", o.spec.Jobs, fairlead.MaxTasks)
	}
	b := bench.Batches{Tasks: o.spec.Jobs, Slots: o.slots, ClaimBatch: o.claimBatch, Progress: bench.NewProgress(cmd.ErrOrStderr())}
	figures, err := measureBatch(cmd.Context(), o.db, b)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if o.output == "json" {
		return figures.WriteJSON(cmd.OutOrStdout())
	}
	return figures.WriteTable(cmd.OutOrStdout())
}

func measureBatch(ctx context.Context, db string, b bench.Batches) (_ bench.BatchFigures, err error) {
	if b.Store, err = openStore(ctx, db); err != nil {
		return bench.BatchFigures{}, fmt.Errorf("open %s: %w", shown(db), err)
	}
	defer func() { err = errors.Join(err, b.Store.Close()) }()
	if b.Server, err = bench.OpenServer(ctx, db); err != nil {
		return bench.BatchFigures{}, err
	}
	defer func() { err = errors.Join(err, b.Server.Close()) }()
	return b.Run(ctx)
}
