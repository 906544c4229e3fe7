package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/internal/bench/lists"
)

// newBenchListsCommand returns the command for a workload that requires a database of its
// own, because it fills it bypassing the store.
func newBenchListsCommand(o *benchOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "lists",
		Short: "Measure how many rows each list and count reads from a large database",
		Long: "Measure how many rows each list and count reads from a large database. The benchmark stores one month\n" +
			"of jobs with SQL, nearly all of them finished (--jobs, default 1,000,000), and queries every filter of\n" +
			"the API. It counts rows from the plans of PostgreSQL and the counters of MySQL, and pages on SQLite,\n" +
			"and marks queries that read more than 2,000 plus 50 for each row of the result page.\n\n" +
			"The data stays in the database: use an empty database and drop it afterwards.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchLists(cmd, *o) },
	}
}

func runBenchLists(cmd *cobra.Command, o benchOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	figures, err := measureLists(cmd.Context(), o.db, lists.Lists{URL: o.db, Jobs: o.spec.Jobs, Watch: bench.NewProgress(cmd.ErrOrStderr()).Watch})
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return writeFigures(cmd, o.output, figures, lists.WriteTable)
}

// writeFigures writes the results, either as a table or as one JSON object per line.
func writeFigures(cmd *cobra.Command, output string, figures []lists.Figure, table func(io.Writer, []lists.Figure) error) error {
	if output != "json" {
		return table(cmd.OutOrStdout(), figures)
	}
	out := json.NewEncoder(cmd.OutOrStdout())
	for _, figure := range figures {
		if err := out.Encode(figure); err != nil {
			return err
		}
	}
	return nil
}

func measureLists(ctx context.Context, db string, l lists.Lists) (_ []lists.Figure, err error) {
	if l.Store, err = openStore(ctx, db); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Store.Close()) }()
	return l.Run(ctx)
}
