package main

import (
	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchSchedulesCommand is the workload that has a database to itself: it
// leaves schedules behind.
func newBenchSchedulesCommand(o *benchOptions) *cobra.Command {
	var s bench.Schedules
	cmd := &cobra.Command{
		Use:   bench.SchedulesWorkload,
		Short: "How punctual schedules are, and what many of them cost that are not due",
		Long: "How punctual schedules are, from the due instant to the start of the handler, beside many\n" +
			"that are not due; and what a node and the database use, as percent of a core, while nothing\n" +
			"is due, with few schedules and with many.\n\n" +
			"On PostgreSQL the many are stored as copies, by SQL; elsewhere one by one. They stay, a\n" +
			"month ahead: use an empty database and drop it afterwards.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchSchedules(cmd, *o, s) },
	}
	cmd.Flags().IntVar(&s.Items, "items", 0, "schedules that are stored and not due (0: 1,000,000)")
	cmd.Flags().IntVar(&s.Rate, "rate", 0, "runs a second (0: 500)")
	cmd.Flags().BoolVar(&s.AtOnce, "at-once", false, "the runs of a second are all due at its beginning")
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
		return usagef("--seconds %v: schedules are due at whole seconds, use a whole number", o.spec.Seconds)
	}
	s.Seconds, s.Slots, s.Progress = o.spec.Seconds, o.slots, bench.NewProgress(cmd.ErrOrStderr())
	measured, err := onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (bench.ScheduleFigures, error) {
		s.Store, s.Server = store, server
		return s.Run(cmd.Context())
	})
	return o.showMeasured(cmd, measured, err)
}
