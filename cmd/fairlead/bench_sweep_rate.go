package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// runBenchSweepRates measures how precisely sweeps follow their rates.
func runBenchSweepRates(cmd *cobra.Command, o benchOptions, s bench.Sweeps, lease time.Duration) error {
	if err := o.validate(); err != nil {
		return err
	}
	if s.Rate < 0 || lease < time.Second {
		return usagef("--rate must be positive, and --lease at least 1s")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	rates := bench.SweepRates{
		Command: []string{program, "bench", nodeCommand}, URL: o.db, Seconds: o.spec.Seconds, Lease: lease, Progress: bench.NewProgress(cmd.ErrOrStderr()),
	}
	if s.Rate > 0 {
		rates.Rates = []float64{s.Rate}
	}
	if cmd.Flags().Changed("in-flight") {
		rates.InFlight = s.InFlight
	}
	if cmd.Flags().Changed("shards") {
		rates.Shards = s.Shards
	}
	_, err = onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (struct{}, error) {
		rates.Store, rates.Server = store, server
		return struct{}{}, showParts(cmd, o, func(done func(bench.SweepRateFigures) error) error { return rates.Run(cmd.Context(), done) })
	})
	return err
}

const nodeCommand = "sweep-node"

func newBenchNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    nodeCommand,
		Short:  "Run a node of bench sweep --part rate",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveBenchSweep(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func serveBenchSweep(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	input := bufio.NewReader(stdin)
	post, err := bench.ReadSweepPost(input)
	if err != nil {
		return err
	}
	// Half a lease: rows that a stopped process holds locked must be free again by
	// the time its jobs are to be taken back.
	store, err := openDatabase(ctx, post.URL, databaseOptions{idleLimit: post.Lease / 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// A Ctrl-C at the terminal reaches this process too; its parent ends it.
	return bench.ServeSweep(context.WithoutCancel(ctx), store, post, input, stdout)
}
