package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// runBenchSweepRates measures how exactly sweeps keep to rates.
func runBenchSweepRates(cmd *cobra.Command, o benchOptions, s bench.Sweeps, lease time.Duration) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if s.Rate < 0 || lease < time.Second {
		return usagef("--rate must be positive, and --lease a second or more")
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
	if rates.Store, err = openStore(cmd.Context(), o.db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rates.Store.Close()) }()
	if rates.Server, err = bench.OpenServer(cmd.Context(), o.db); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, rates.Server.Close()) }()
	err = rates.Run(cmd.Context(), func(f bench.SweepRateFigures) error {
		if o.output == "json" {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(f)
		}
		return f.WriteTable(cmd.OutOrStdout())
	})
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}

const nodeCommand = "sweep-node"

func newBenchNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    nodeCommand,
		Short:  "A node of bench sweep --part rate",
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
