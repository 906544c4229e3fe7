package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// runBenchSweepCalls compares sweeps over HTTP with a plain client.
func runBenchSweepCalls(cmd *cobra.Command, o benchOptions, s bench.Sweeps, pairs int) error {
	if err := o.validate(); err != nil {
		return err
	}
	if pairs < 0 {
		return usagef("--pairs %d must not be negative", pairs)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	calls := bench.SweepCalls{Command: []string{program, "bench", targetCommand}, Seconds: o.spec.Seconds, Pairs: pairs}
	if cmd.Flags().Changed("in-flight") {
		calls.InFlight = s.InFlight
	}
	_, err = onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (struct{}, error) {
		calls.Store, calls.Server = store, server
		return struct{}{}, showParts(cmd, o, func(done func(bench.SweepCallFigures) error) error { return calls.Run(cmd.Context(), done) })
	})
	return err
}

const targetCommand = "target"

func newBenchTargetCommand() *cobra.Command {
	return &cobra.Command{
		Use:    targetCommand,
		Short:  "Run the target of bench sweep --part http",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A Ctrl-C at the terminal reaches this process too; its parent ends it.
			return bench.ServeTarget(context.WithoutCancel(cmd.Context()), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
