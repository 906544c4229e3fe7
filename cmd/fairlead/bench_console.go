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

// newBenchConsoleCommand is a workload that has a database to itself, as lists has.
func newBenchConsoleCommand(o *benchOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "console",
		Short: "What every page of the console reads, with very many jobs stored",
		Long: "What every page of the console reads: it stores what \"bench lists\" does (--jobs, by default a\n" +
			"million, with a schedule for every ten and a tenant for every thousand of them), and asks for\n" +
			"every screen with its filters, as an admin. Those that read above 50 for each row that they\n" +
			"may show or look through and 3,000, or show more than 500 rows, are marked. What all tenants\n" +
			"use is counted apart: pages share it.\n\n" +
			"Everything stays: use an empty database and drop it afterwards.",
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
