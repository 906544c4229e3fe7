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
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchBatchCommand returns the command for the workload of one large batch.
func newBenchBatchCommand(o *benchOptions) *cobra.Command {
	return &cobra.Command{
		Use:   bench.BatchWorkload,
		Short: "Compare a batch of empty tasks with the same number of plain jobs",
		Long: "Compare a batch of empty tasks (--jobs, default 1,000,000) with the same number of plain jobs: the\n" +
			"time to create the batch, its throughput and the time to read its progress; and the throughput of plain jobs.",
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
	program, err := os.Executable()
	if err != nil {
		return err
	}
	b.URL, b.Viewer = o.db, []string{program, "bench", viewerCommand}
	measured, err := onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (bench.BatchFigures, error) {
		b.Store, b.Server = store, server
		return b.Run(cmd.Context())
	})
	return o.showMeasured(cmd, measured, err)
}

const viewerCommand = "viewer"

func newBenchViewerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    viewerCommand,
		Short:  "Run the second process of bench batch",
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
		return fmt.Errorf("read the parent process's instructions: %w", err)
	}
	store, err := openStore(ctx, watch.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return bench.ServeViews(ctx, store, watch.Batch, io.MultiReader(input.Buffered(), stdin), stdout)
}
