package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench"
)

type peersOptions struct {
	rounds int
	sizes  sizes
	only   string
	output string
	list   bool
}

func parsePeers(args []string) (peersOptions, error) {
	var o peersOptions
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 3, "how often everything is measured; medians are shown")
	f.IntVar(&o.sizes.jobs, "jobs", 200_000, "size of a backlog")
	f.Float64Var(&o.sizes.seconds, "seconds", 20, "duration of sustained work")
	f.StringVar(&o.only, "only", "", "contests to run, by the beginning of their names, separated by commas (see --list)")
	f.StringVar(&o.output, "o", "text", "text, markdown or json")
	f.BoolVar(&o.list, "list", false, "list the contests")
	if err := f.Parse(args); err != nil {
		return o, flag.ErrHelp // the error was already printed
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.rounds < 1 || o.sizes.jobs < 1 || o.sizes.seconds <= 0:
		return o, errors.New("-rounds, -jobs and -seconds must be positive")
	case o.output != "text" && o.output != "markdown" && o.output != "json":
		return o, fmt.Errorf("-o %s: use text, markdown or json", o.output)
	}
	return o, nil
}

// chosen returns the contests to run.
func (o peersOptions) chosen() ([]contest, error) {
	all := contests(o.sizes)
	if o.only == "" {
		return all, nil
	}
	var some []contest
	for _, c := range all {
		for name := range strings.SplitSeq(o.only, ",") {
			if strings.HasPrefix(c.name, strings.TrimSpace(name)) {
				some = append(some, c)
				break
			}
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("-only %s: no contest's name begins so", o.only)
	}
	return some, nil
}

func peers(ctx context.Context, args []string, stdout io.Writer) (err error) {
	o, err := parsePeers(args)
	if err != nil {
		return err
	}
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	if o.list {
		for _, c := range chosen {
			fmt.Fprintf(stdout, "%-18s %s\n", c.name, c.title)
		}
		return nil
	}
	if chosen, err = available(ctx, chosen); err != nil {
		return err
	}
	j, err := newJudge()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	outcomes := newOutcomes(chosen)
	var failed error
	for round := range o.rounds {
		failed = errors.Join(failed, j.round(ctx, round, o.rounds, outcomes))
	}
	return errors.Join(failed, write(stdout, o.output, outcomes))
}

// available prepares systems with special requirements, and leaves out those that this
// machine does not support.
func available(ctx context.Context, contests []contest) ([]contest, error) {
	if !slices.ContainsFunc(contests, func(c contest) bool { return slices.ContainsFunc(c.entries, usesGraphile) }) {
		return contests, nil
	}
	err := installGraphile(ctx)
	if err == nil || ctx.Err() != nil {
		return contests, ctx.Err()
	}
	fmt.Fprintln(os.Stderr, "graphile-worker is left out:", err)
	return without(contests, usesGraphile), nil
}

// without returns the contests without the entries that out selects.
func without(contests []contest, out func(entry) bool) []contest {
	rest := slices.Clone(contests)
	for i := range rest {
		rest[i].entries = slices.DeleteFunc(slices.Clone(rest[i].entries), out)
	}
	return rest
}

func write(w io.Writer, format string, outcomes []*outcome) error {
	switch format {
	case "json":
		return json.NewEncoder(w).Encode(outcomes)
	case "markdown":
		return writeMarkdown(w, outcomes)
	default:
		return writeText(w, outcomes)
	}
}

// judge performs the measurements, each in a separate process.
type judge struct {
	servers  servers
	programs string // directory of the programs built for the measurements
}

func newJudge() (*judge, error) {
	dir, err := os.MkdirTemp("", "fairlead-bench-programs-")
	return &judge{programs: dir}, err
}

func (j *judge) close() error { return errors.Join(j.servers.stop(), os.RemoveAll(j.programs)) }

// round runs every entry once. The entries of a contest take turns at being first, so that
// none always finds the machine in the same state. After a failed entry the others still
// run.
func (j *judge) round(ctx context.Context, round, rounds int, outcomes []*outcome) error {
	var failed error
	for _, o := range outcomes {
		for i := range o.Entries {
			if ctx.Err() != nil {
				return errors.Join(failed, ctx.Err())
			}
			e := o.Entries[(i+round)%len(o.Entries)]
			began := time.Now()
			result, err := j.measure(ctx, e.entry)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", o.Name, e.Label, err))
				continue
			}
			e.Results = append(e.Results, result)
			fmt.Fprintf(os.Stderr, "%d/%d  %-18s %-26s %s  %3.0f s\n", round+1, rounds, o.Name, e.Label, summary(result), time.Since(began).Seconds())
		}
	}
	return failed
}

func summary(r bench.Result) string {
	if r.P50Millis > 0 {
		return fmt.Sprintf("%6.2f ms p50 %7.2f ms p99", r.P50Millis, r.P99Millis)
	}
	return fmt.Sprintf("%9s/s %8.1f µs/job", bench.Grouped(r.Rate), r.TotalMicros())
}

func (j *judge) measure(ctx context.Context, e entry) (_ bench.Result, err error) {
	command, err := j.command(ctx, e.system)
	if err != nil {
		return bench.Result{}, err
	}
	url, drop, err := j.servers.fresh(ctx, e.database)
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	return bench.Order{System: e.system, URL: url, Processes: e.processes, Spec: e.spec}.Send(ctx, command)
}

// command returns the program that measures a system: this one, except for River on SQLite,
// which requires another version of River and so a separate module.
func (j *judge) command(ctx context.Context, system string) ([]string, error) {
	if system != systemRiverSQLite {
		program, err := os.Executable()
		return []string{program, orderCommand}, err
	}
	program := filepath.Join(j.programs, systemRiverSQLite)
	if _, err := os.Stat(program); err == nil {
		return []string{program}, nil
	}
	build := exec.CommandContext(ctx, "go", "build", "-C", "riversqlite", "-o", program, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build riversqlite (this program is to be run in its own directory): %w", err)
	}
	return []string{program}, nil
}
