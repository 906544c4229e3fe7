package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// figures contains the results of a workload.
type figures interface {
	WriteTable(io.Writer) error
}

// onDatabase opens the store and the database server, runs measure, and closes both.
func onDatabase[Figures any](ctx context.Context, db string, measure func(driver.Store, bench.Server) (Figures, error)) (measured Figures, err error) {
	store, err := openStore(ctx, db)
	if err != nil {
		return measured, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	server, err := bench.OpenServer(ctx, db)
	if err != nil {
		return measured, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	return measure(store, server)
}

// show writes figures in the requested format; JSON is one line.
func (o benchOptions) show(cmd *cobra.Command, f figures) error {
	if o.output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(f)
	}
	return f.WriteTable(cmd.OutOrStdout())
}

// showMeasured shows the figures of a workload unless it failed.
func (o benchOptions) showMeasured(cmd *cobra.Command, f figures, err error) error {
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return o.show(cmd, f)
}

// showParts shows the parts of a workload as they complete.
func showParts[Part figures](cmd *cobra.Command, o benchOptions, run func(done func(Part) error) error) error {
	if err := run(func(part Part) error { return o.show(cmd, part) }); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}
