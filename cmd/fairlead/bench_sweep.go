package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchSweepCommand is the workload of one large sweep.
func newBenchSweepCommand(o *benchOptions) *cobra.Command {
	var s bench.Sweeps
	var part string
	var lease time.Duration
	var pairs int
	cmd := &cobra.Command{
		Use:   bench.SweepWorkload,
		Short: "A sweep over items with a handler that does nothing",
		Long: "A sweep over items (--items) with a handler that does nothing: how many a second, what each costs\n" +
			"in CPU time, how soon the first comes, how large checkpoints get and how long they take, and how\n" +
			"the memory of the process grows. With --seconds it is stopped then.\n\n" +
			"--part rate tells how exactly a rate is kept, by one node, while one of two leaves, and after one of\n" +
			"two was killed. Without --rate it takes several, each for --seconds (30).\n\n" +
			"--part http sends items to a target on this machine, one by one, in turn with wrk or, where that\n" +
			"is not installed, a plain client.",
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
			return usagef("--part %q: use rate or http, or leave it out", part)
		},
	}
	f := cmd.Flags()
	f.StringVar(&part, "part", "", "rate or http (default: a handler that does nothing)")
	f.IntVar(&pairs, "pairs", 0, "measurements of --part http and what it is held against, in turn (0: 3)")
	f.DurationVar(&lease, "lease", 10*time.Second, "lease of the nodes of --part rate")
	f.Int64Var(&s.Items, "items", 10_000_000, "number of items")
	f.IntVar(&s.InFlight, "in-flight", 16, "items that are handled at once")
	f.IntVar(&s.Shards, "shards", 1, "shards of the sweep")
	f.Float64Var(&s.Rate, "rate", 0, "items per second, at most (0: no bound)")
	return cmd
}

func runBenchSweep(cmd *cobra.Command, o benchOptions, s bench.Sweeps) error {
	if err := o.validate(); err != nil {
		return err
	}
	if s.Items < 1 {
		return usagef("--items %d: it must be positive", s.Items)
	}
	s.Seconds, s.Progress = o.spec.Seconds, bench.NewProgress(cmd.ErrOrStderr())
	measured, err := onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (bench.SweepFigures, error) {
		s.Store, s.Server = store, server
		return s.Run(cmd.Context())
	})
	return o.showMeasured(cmd, measured, err)
}
