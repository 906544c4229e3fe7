// Command prove plays every pair of operations in every order on real databases, and writes
// the results into docs/proof.md:
//
//	make prove
//
// Results are stored in bin/prove, so an interrupted run continues where it stopped. They are
// used again as long as the code that they depend on stays the same. To replay an order, name
// it as it was printed:
//
//	make prove ARGS='-database postgres -match "running: settle: succeed × cancel" -order "A1 B* A*"'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fairlead-io/fairlead/interleave"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

// options are the command-line options.
type options struct {
	databases []string
	match     string
	order     string
	report    bool
	planted   string
	methods   []string
	tests     string
	first     bool
	switches  int
}

func parse(arguments []string) (o options, err error) {
	set := flag.NewFlagSet("prove", flag.ContinueOnError)
	databases := set.String("database", "postgres,mysql,sqlite", "databases, separated by commas")
	set.StringVar(&o.match, "match", "", "play only pairs whose name contains this text")
	set.StringVar(&o.order, "order", "", "replay this order of the matching pairs and print its statements")
	set.BoolVar(&o.report, "report", true, "write docs/proof.md after all pairs have been played")
	set.StringVar(&o.planted, "planted", "", "plant the bugs whose name contains this text, or all, instead of proving the code")
	methods := set.String("methods", "pairs,contract,simulation", "methods to try on planted bugs, separated by commas")
	set.StringVar(&o.tests, "tests", "", "of the contract tests, run only those that match this pattern on planted bugs; store only what they find")
	set.BoolVar(&o.first, "first", false, "stop at the first finding, and store nothing")
	set.IntVar(&o.switches, "switches", 2, "play orders with at most this many switches: 2 or 3")
	err = set.Parse(arguments)
	if err == nil && o.switches != 2 && o.switches != 3 {
		err = fmt.Errorf("-switches is %d, want 2 or 3", o.switches)
	}
	o.databases, o.methods = strings.Split(*databases, ","), strings.Split(*methods, ",")
	return o, err
}

func run(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	if o.order != "" {
		return replay(ctx, o)
	}
	if o.planted != "" {
		return plant(ctx, strings.TrimPrefix(o.planted, "all"), o.methods, o.tests)
	}
	if o.first {
		return findFirst(ctx, o)
	}
	var errs []error
	results := map[string]*resultFile{}
	for _, database := range o.databases {
		l, err := prove(ctx, database, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", database, err))
		}
		results[database] = l
	}
	if o.report && o.match == "" && o.switches == 2 {
		errs = append(errs, report(results))
	}
	return errors.Join(errs...)
}

// open starts a database and a stage on it. The returned function ends both.
func open(ctx context.Context, database string) (*interleave.Stage, func() error, error) {
	url, drop, err := fresh(ctx, database)
	if err != nil {
		return nil, nil, err
	}
	stage, err := interleave.NewStage(ctx, database, url)
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return stage, func() error { return errors.Join(stage.Close(), drop()) }, nil
}

// fresh returns the URL of an empty database.
func fresh(ctx context.Context, database string) (url string, drop func() error, err error) {
	if database != "sqlite" {
		return testdb.Fresh(ctx, database)
	}
	dir, err := os.MkdirTemp("", "prove")
	if err != nil {
		return "", nil, err
	}
	return "sqlite://" + filepath.Join(dir, "jobs.db"), func() error { return os.RemoveAll(dir) }, nil
}

// replay plays one order of the matching pairs and prints its statements.
func replay(ctx context.Context, o options) (err error) {
	order, err := interleave.ParseOrder(o.order)
	if err != nil {
		return err
	}
	for _, database := range o.databases {
		stage, end, err := open(ctx, database)
		if err != nil {
			return err
		}
		for _, pair := range interleave.Pairs() {
			if !strings.Contains(pair.String(), o.match) {
				continue
			}
			script, err := stage.Replay(ctx, pair, order)
			fmt.Printf("%s, %v, order %v\n%s\n", database, pair, order, script)
			if err != nil {
				return errors.Join(err, end())
			}
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// firstOf returns the first line of a text.
func firstOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// findingPrefix begins the line that names a finding.
const findingPrefix = "finding: "

// errFound reports a finding.
var errFound = errors.New("an order has a result that no serial order has")

// findFirst plays pairs until an order has a result that nothing explains.
func findFirst(ctx context.Context, o options) error {
	for _, database := range o.databases {
		stage, end, err := open(ctx, database)
		if err != nil {
			return err
		}
		for _, pair := range interleave.Pairs() {
			if !strings.Contains(pair.String(), o.match) {
				continue
			}
			stage.FirstOnly = true
			outcome, err := stage.Explore(ctx, pair, o.switches)
			if err != nil && ctx.Err() == nil { // the actors are stuck, or the store has failed
				outcome.Findings, err = append(outcome.Findings, interleave.Finding{Pair: pair, What: firstOf(err.Error())}), nil
			}
			if err == nil && len(outcome.Findings) > 0 {
				f := outcome.Findings[0]
				fmt.Printf("%s%s, %v, order %v: %s\n", findingPrefix, database, f.Pair, f.Order, f.What)
				err = errFound
			}
			if err != nil {
				return errors.Join(err, end())
			}
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}
