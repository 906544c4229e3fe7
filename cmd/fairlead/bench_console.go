package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/internal/bench/lists"
	"github.com/fairlead-io/fairlead/internal/bench/pages"
)

// newBenchConsoleCommand returns the command for a workload that requires a database of its
// own, like lists.
func newBenchConsoleCommand(o *benchOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "console",
		Short: "Measure how many rows each console page reads from a large database",
		Long: "Measure how many rows each console page reads from a large database. The benchmark stores the same data\n" +
			"as \"bench lists\" (--jobs, default 1,000,000, with one schedule per ten jobs and one tenant per\n" +
			"thousand) and requests every page with its filters as an admin. It marks pages that read more\n" +
			"than 3,000 rows plus 50 for each row they show or search, and pages that show more than 500\n" +
			"rows. The usage of all tenants is counted separately, because pages share it.\n\n" +
			"The data stays in the database: use an empty database and drop it afterwards.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchConsole(cmd, *o) },
	}
}

func runBenchConsole(cmd *cobra.Command, o benchOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	watch := bench.NewProgress(cmd.ErrOrStderr()).Watch
	figures, err := measurePages(cmd.Context(), o.db, lists.Lists{URL: o.db, Jobs: o.spec.Jobs, Watch: watch})
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return writeFigures(cmd, o.output, figures, pages.WriteTable)
}

func measurePages(ctx context.Context, db string, l lists.Lists) (_ []lists.Figure, err error) {
	if l.Store, err = openStore(ctx, db); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Store.Close()) }()
	return pages.Pages{Lists: l}.Run(ctx)
}
