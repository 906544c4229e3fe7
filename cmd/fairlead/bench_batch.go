package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/batch"
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
	if o.spec.Jobs > batch.MaxTasks {
		return usagef("--jobs %d: a batch has at most %d tasks", o.spec.Jobs, batch.MaxTasks)
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
		return bench.BatchFigures{}, err
	}
	defer func() { err = errors.Join(err, b.Store.Close()) }()
	if b.Server, err = bench.OpenServer(ctx, db); err != nil {
		return bench.BatchFigures{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return bench.BatchFigures{}, err
	}
	b.URL, b.Viewer = db, []string{program, "bench", viewerCommand}
	defer func() { err = errors.Join(err, b.Server.Close()) }()
	return b.Run(ctx)
}

const viewerCommand = "viewer"

func newBenchViewerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    viewerCommand,
		Short:  "The second process of bench batch",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A Ctrl-C at the terminal reaches this process too; its parent ends it.
			return serveViews(context.WithoutCancel(cmd.Context()), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func serveViews(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	input := json.NewDecoder(stdin)
	var watch bench.Watch
	if err := input.Decode(&watch); err != nil {
		return fmt.Errorf("read what to look at: %w", err)
	}
	store, err := openStore(ctx, watch.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return bench.ServeViews(ctx, store, watch.Batch, io.MultiReader(input.Buffered(), stdin), stdout)
}
