package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// runBenchSweepCalls holds sweeps over HTTP against a plain client.
func runBenchSweepCalls(cmd *cobra.Command, o benchOptions, s bench.Sweeps, pairs int) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if pairs < 0 {
		return usagef("--pairs %d: it must be positive", pairs)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	calls := bench.SweepCalls{Command: []string{program, "bench", targetCommand}, Seconds: o.spec.Seconds, Pairs: pairs}
	if cmd.Flags().Changed("in-flight") {
		calls.InFlight = s.InFlight
	}
	if calls.Store, err = openStore(cmd.Context(), o.db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, calls.Store.Close()) }()
	if calls.Server, err = bench.OpenServer(cmd.Context(), o.db); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, calls.Server.Close()) }()
	err = calls.Run(cmd.Context(), func(f bench.SweepCallFigures) error {
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

const targetCommand = "target"

func newBenchTargetCommand() *cobra.Command {
	return &cobra.Command{
		Use:    targetCommand,
		Short:  "The target of bench sweep --part http",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A Ctrl-C at the terminal reaches this process too; its parent ends it.
			return bench.ServeTarget(context.WithoutCancel(cmd.Context()), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
