package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchSweepCommand returns the command for the workload of one large sweep.
func newBenchSweepCommand(o *benchOptions) *cobra.Command {
	var s bench.Sweeps
	var part string
	var lease time.Duration
	var pairs int
	cmd := &cobra.Command{
		Use:   bench.SweepWorkload,
		Short: "Measure a sweep with an empty handler",
		Long: "Measure a sweep over --items items with an empty handler: items per second, CPU time per item, time to\n" +
			"the first item, size and duration of checkpoints, and memory growth of the process. With --seconds,\n" +
			"the benchmark stops the sweep after that time.\n\n" +
			"--part rate measures the accuracy of the rate limit: with one node, while one of two nodes leaves, and after\n" +
			"one of two nodes is killed. Without --rate it tests several rates, each for --seconds (default 30).\n\n" +
			"--part http sends items to a target on this machine, one per call, and compares the result with wrk,\n" +
			"or with a plain client if wrk is not installed.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch part {
			case "":
				return runBenchSweep(cmd, *o, s)
			case "http":
				return runBenchSweepCalls(cmd, *o, s, pairs)
			case "rate":
				return runBenchSweepRates(cmd, *o, s, lease)
			}
			return usagef("--part %q: use rate or http, or omit the flag", part)
		},
	}
	f := cmd.Flags()
	f.StringVar(&part, "part", "", "benchmark to run: rate or http (default: a sweep with an empty handler)")
	f.IntVar(&pairs, "pairs", 0, "number of measurement pairs: one of --part http and one of its baseline (default 3)")
	f.DurationVar(&lease, "lease", 10*time.Second, "lease duration of the nodes in --part rate")
	f.Int64Var(&s.Items, "items", 10_000_000, "number of items")
	f.IntVar(&s.InFlight, "in-flight", 16, "maximum number of items processed at once")
	f.IntVar(&s.Shards, "shards", 1, "number of shards")
	f.Float64Var(&s.Rate, "rate", 0, "maximum number of items per second (0 = unlimited)")
	return cmd
}

func runBenchSweep(cmd *cobra.Command, o benchOptions, s bench.Sweeps) error {
	if err := o.validate(); err != nil {
		return err
	}
	if s.Items < 1 {
		return usagef("--items %d must be positive", s.Items)
	}
	s.Seconds, s.Progress = o.spec.Seconds, bench.NewProgress(cmd.ErrOrStderr())
	measured, err := onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (bench.SweepFigures, error) {
		s.Store, s.Server = store, server
		return s.Run(cmd.Context())
	})
	return o.showMeasured(cmd, measured, err)
}
