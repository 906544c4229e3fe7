package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/internal/cli"
)

type benchOptions struct {
	db                string
	spec              bench.Spec
	slots, claimBatch int
	processes         int
	holds             string
	output            string
}

func newBenchCommand() *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Benchmark this machine and its database",
		Long: "Benchmark this machine and its database. The benchmarks report jobs per second and CPU time per job, for\n" +
			"this process and for a database server on the same machine.\n\n" +
			"All benchmarks accept the same flags and ignore those that do not apply.\n" +
			"The jobs stay in the database until retention removes them.",
		PersistentPreRunE: databaseFrom,
	}
	cli.OnlyCommands(cmd)
	f := cmd.PersistentFlags()
	databaseFlags(f, &o.db, defaultDatabase)
	f.IntVar(&o.spec.Jobs, "jobs", 0, "number of jobs (default 100,000, or 500 for latency, or unlimited for sustained and longtx)")
	f.Float64Var(&o.spec.Seconds, "seconds", 0, "duration of the sustained, longtx and latency benchmarks, in seconds (0 = until --jobs jobs are done, or 10 if the number of jobs is unlimited)")
	f.IntVar(&o.spec.Clients, "clients", 0, "number of concurrent callers; if set, the enqueue benchmark stores one job per call (default 1, or 2 for sustained and longtx)")
	f.IntVar(&o.spec.Batch, "batch", 0, "number of jobs enqueued per call (default 1000, or 100 for sustained and longtx)")
	f.IntVar(&o.slots, "slots", 0, fmt.Sprintf("maximum number of jobs running at once (0 = %d, or the default of fairlead serve for latency)", bench.LoadSlots))
	f.IntVar(&o.claimBatch, "claim-batch", 0, fmt.Sprintf("maximum number of jobs per claim (0 = %d)", bench.LoadClaimBatch))
	f.IntVar(&o.processes, "processes", 1, "number of processes; with 2, the latency benchmark runs the worker in a second process")
	holdRetentionFlagVar(f, &o.holds)
	f.StringVarP(&o.output, "output", "o", "table", "output format: table or json")
	for _, w := range []struct{ name, short string }{
		{bench.Enqueue, "Enqueue jobs of kind noop in the default queue, for nodes to run"},
		{bench.Drain, "Measure the throughput of a backlog of jobs"},
		{bench.Sustained, "Enqueue and run jobs at the same time"},
		{bench.Latency, "Measure the time from enqueueing a job to the start of its handler, on an idle node with default settings"},
		{bench.LongTx, "Run sustained (or drain, with --jobs) during a long-running transaction"},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:   w.name,
			Short: w.short,
			Args:  noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				o.spec.Workload = w.name
				return runBench(cmd, o)
			},
		})
	}
	cmd.AddCommand(newBenchTenantsCommand(&o), newBenchFairCommand(&o), newBenchSchedulesCommand(&o), newBenchBatchCommand(&o), newBenchSweepCommand(&o), newBenchListsCommand(&o), newBenchScaleCommand(&o), newBenchConsoleCommand(&o), newBenchRestCommand(&o), newBenchWorkerCommand(), newBenchTargetCommand(), newBenchViewerCommand(), newBenchNodeCommand())
	return cmd
}

func (o benchOptions) validate() error {
	for _, v := range []struct {
		flag  string
		value float64
	}{
		{"jobs", float64(o.spec.Jobs)},
		{"seconds", o.spec.Seconds},
		{"clients", float64(o.spec.Clients)},
		{"batch", float64(o.spec.Batch)},
		{"slots", float64(o.slots)},
		{"claim-batch", float64(o.claimBatch)},
	} {
		if v.value < 0 {
			return usagef("--%s %v must not be negative", v.flag, v.value)
		}
	}
	if o.processes != 1 && o.processes != 2 {
		return usagef("--processes %d must be 1 or 2", o.processes)
	}
	if o.output != "table" && o.output != "json" {
		return usagef("--output %q: use table or json", o.output)
	}
	return nil
}

func runBench(cmd *cobra.Command, o benchOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	progress := bench.NewProgress(cmd.ErrOrStderr())
	result, err := onDatabase(cmd.Context(), o.db, func(store driver.Store, server bench.Server) (bench.Result, error) {
		scheduler, err := o.scheduler(store)
		if err != nil {
			return bench.Result{}, err
		}
		result, err := bench.Bench{Spec: o.spec, Scheduler: scheduler, Server: server, Progress: progress}.Run(cmd.Context())
		if o.spec.Workload == bench.Latency {
			result.Processes = o.processes
		}
		return result, err
	})
	return o.showMeasured(cmd, result, err)
}

// scheduler returns the scheduler that the workload uses.
func (o benchOptions) scheduler(store driver.Store) (bench.Scheduler, error) {
	holds, err := parseHoldRetention(o.holds)
	if err != nil {
		return nil, err
	}
	own := &bench.Fairlead{Store: store, Kind: bench.KindOwn, Queue: bench.OwnQueue(), Slots: o.slots, ClaimBatch: o.claimBatch, HoldRetention: holds}
	switch {
	case o.spec.Workload == bench.Enqueue:
		own.Kind, own.Queue = bench.KindNoop, fairlead.DefaultQueue
	case o.spec.Workload == bench.Latency && o.processes == 2:
		return remoteWorker(own, o.db)
	case o.spec.Workload != bench.Latency:
		own.UnderLoad()
	}
	return own, nil
}
