package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench/scale"
)

// newBenchScaleCommand returns the command for the workload that needs no database.
func newBenchScaleCommand(o *benchOptions) *cobra.Command {
	var nodes, tenants []int
	var spec scale.Spec
	var chart string
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Simulate the database load of many nodes and tenants",
		Long: "Simulate the database load of many nodes and tenants that share job starts by weight. The simulation\n" +
			"runs the code that chooses jobs, without a database. Except for CPU times, every run gives the\n" +
			"same results. A thousand nodes with 100,000 tenants take more than a minute.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			if o.spec.Seconds != float64(int(o.spec.Seconds)) {
				return usagef("--seconds %v must be a whole number", o.spec.Seconds)
			}
			if len(nodes) == 0 || len(tenants) == 0 || min(slices.Min(nodes), slices.Min(tenants)) < 1 || min(spec.Busy, spec.Max) < 0 {
				return usagef("--nodes %v, --tenants %v, --busy %d and --max %d must be positive", nodes, tenants, spec.Busy, spec.Max)
			}
			spec.Seconds = int(o.spec.Seconds)
			var report scale.Report
			for _, spec.Tenants = range tenants {
				var row scale.Report
				for _, spec.Nodes = range nodes {
					row = append(row, scale.Run(spec))
				}
				report = append(report, row...)
				if err := writeChart(chart, row); err != nil {
					return fmt.Errorf("bench: %w", err)
				}
			}
			if o.output == "json" {
				return report.WriteJSON(cmd.OutOrStdout())
			}
			return report.WriteTable(cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&nodes, "nodes", []int{1, 10, 100, 1000}, "node counts to simulate")
	flags.IntSliceVar(&tenants, "tenants", []int{100, 10_000, 100_000}, "tenant counts to simulate")
	flags.IntVar(&spec.Busy, "busy", 0, "number of tenants with ready jobs (default 1% of the tenants, at least 50)")
	flags.IntVar(&spec.Max, "max", 0, "maximum number of jobs per claim; every node claims once per second (default 10)")
	flags.StringVar(&chart, "chart", "", "SVG file to write, with a chart for the last value of --tenants (default: none)")
	return cmd
}

// writeChart writes a chart to a file, if a path is given.
func writeChart(path string, row scale.Report) error {
	if path == "" || len(row) == 0 {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := row.WriteChart(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
