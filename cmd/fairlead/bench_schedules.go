package main

import (
	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchSchedulesCommand returns the command for a workload that requires a database of
// its own, because it leaves schedules behind.
func newBenchSchedulesCommand(o *benchOptions) *cobra.Command {
	var s bench.Schedules
	cmd := &cobra.Command{
		Use:   bench.SchedulesWorkload,
		Short: "Measure the start delay of schedules and the cost of idle schedules",
		Long: "Measure the delay from the due time of a schedule to the start of its handler while the database holds\n" +
			"many schedules that are not due, and the CPU usage of a node and the database, in percent of a core,\n" +
			"while nothing is due, with few schedules and with many.\n\n" +
			"On PostgreSQL the benchmark copies the idle schedules with SQL; on other databases it creates them one\n" +
			"by one. They stay in the database, due in a month: use an empty database and drop it afterwards.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchSchedules(cmd, *o, s) },
	}
	cmd.Flags().IntVar(&s.Items, "items", 0, "number of stored schedules that are not due (default 1,000,000)")
	cmd.Flags().IntVar(&s.Rate, "rate", 0, "runs per second (default 500)")
	cmd.Flags().BoolVar(&s.AtOnce, "at-once", false, "make all runs of each second due at the start of that second")
	return cmd
}

func runBenchSchedules(cmd *cobra.Command, o benchOptions, s bench.Schedules) error {
	if err := o.validate(); err != nil {
		return err
	}
	if s.Items < 0 || s.Rate < 0 {
		return usagef("--items and --rate must be positive")
	}
	if o.spec.Seconds != float64(int(o.spec.Seconds)) {
		return usagef("--seconds %v must be a whole number", o.spec.Seconds)
	}
	s.Seconds, s.Slots, s.Progress = o.spec.Seconds, o.slots, bench.NewProgress(cmd.ErrOrStderr())
	measured, err := onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (bench.ScheduleFigures, error) {
		s.Store, s.Server = store, server
		return s.Run(cmd.Context())
	})
	return o.showMeasured(cmd, measured, err)
}
