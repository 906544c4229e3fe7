package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// options contains the command-line options.
type options struct {
	areas  []string
	count  int
	seed   string
	match  *regexp.Regexp
	again  bool
	vital  bool
	list   bool
	atOnce int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = mutate(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (o options, err error) {
	var all []string
	for _, a := range areas {
		all = append(all, a.name)
	}
	set := flag.NewFlagSet("mutants", flag.ContinueOnError)
	names := set.String("area", strings.Join(all, ","), "areas of the code to mutate, separated by commas")
	set.IntVar(&o.count, "count", 60, "number of mutants per area, in addition to those that are always judged")
	set.StringVar(&o.seed, "seed", "", "seed for drawing mutants (default: the commit hash)")
	match := set.String("match", "", "judge all mutants whose name matches this pattern, and no others")
	set.BoolVar(&o.again, "again", false, "judge again the mutants that no test noticed")
	set.BoolVar(&o.vital, "vital", true, "always judge the fences, leases and locks of important statements, in addition to the drawn mutants")
	set.BoolVar(&o.list, "list", false, "only list the drawn mutants")
	set.IntVar(&o.atOnce, "at-once", 3, "number of tests to run concurrently")
	if err := set.Parse(arguments); err != nil {
		return o, err
	}
	o.areas = strings.Split(*names, ",")
	for _, name := range o.areas {
		if !slices.Contains(all, name) {
			return o, fmt.Errorf("-area %s: use %s", name, strings.Join(all, ", "))
		}
	}
	if *match != "" {
		if o.match, err = regexp.Compile(*match); err != nil {
			return o, fmt.Errorf("-match: %w", err)
		}
	}
	return o, nil
}

func mutate(ctx context.Context, o options, out io.Writer) error {
	root, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if o.seed == "" {
		if o.seed, err = git(ctx, "rev-parse", "HEAD"); err != nil {
			return err
		}
	}
	w := &workshop{root: root, dir: filepath.Join(root, "bin", "mutants")}
	if err := os.MkdirAll(w.dir, 0o750); err != nil {
		return err
	}
	packages := testsOf(o.areas)
	fmt.Fprintf(out, "building the tests of %s with all mutants\n", strings.Join(packages, ", "))
	p, err := w.assemble(ctx, packages)
	if err != nil {
		return err
	}
	drawn := o.draw(p.places)
	if o.list {
		for _, at := range drawn {
			fmt.Fprintln(out, at.name())
		}
		return nil
	}
	r, err := openRecord(filepath.Join(w.dir, "record.jsonl"))
	if err != nil {
		return err
	}
	if err := r.complete(ctx, w, p, packages, o.atOnce, out); err != nil {
		return err
	}
	return o.hunt(ctx, &hunter{w, p, r}, drawn, out)
}

// draw selects mutants.
func (o *options) draw(places []*place) []*place {
	draw(places, o.seed, o.vital)
	var drawn []*place
	for _, name := range o.areas {
		left := o.count
		for _, at := range places {
			if at.area.name != name || o.match != nil && !o.match.MatchString(at.name()) {
				continue
			}
			if (!at.vital() || !o.vital) && o.match == nil {
				if left == 0 {
					continue
				}
				left--
			}
			drawn = append(drawn, at)
		}
	}
	return drawn
}

// hunt judges the selected mutants that have no verdict yet.
func (o *options) hunt(ctx context.Context, h *hunter, drawn []*place, out io.Writer) error {
	reasons, err := readEquivalents(equivalentText)
	if err != nil {
		return fmt.Errorf("equivalent.txt: %w", err)
	}
	l, err := openVerdictFile(filepath.Join(h.workshop.dir, "verdicts.jsonl"))
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(o.atOnce)
	for i, at := range drawn {
		v, known := l.find(at)
		if _, ok := reasons[at.name()]; ok || known && (!o.again || v.Verdict == killed) {
			continue
		}
		group.Go(func() error {
			v, err := h.judge(groupCtx, at)
			if err != nil || groupCtx.Err() != nil {
				return errors.Join(err, groupCtx.Err())
			}
			fmt.Fprintf(out, "%d of %d: %s\n\t%s %s, %d tests, %.1f s\n", i+1, len(drawn), v.Place, v.Verdict, v.By, v.Tests, v.Seconds)
			return l.add(v)
		})
	}
	err = group.Wait()
	var verdicts []verdict
	cpu := 0.0
	for _, at := range drawn {
		v, ok := l.find(at)
		cpu += v.CPU
		if reason, explained := reasons[at.name()]; explained {
			v, ok = verdict{Place: at.name(), Area: at.area.name, Kind: at.kind, Verdict: equivalent, By: reason}, true
		}
		if ok {
			verdicts = append(verdicts, v)
		}
	}
	report(out, o.seed, verdicts, cpu)
	return err
}

// testsOf returns the packages whose tests protect areas.
func testsOf(names []string) []string {
	var packages []string
	for _, a := range areas {
		if slices.Contains(names, a.name) {
			packages = append(packages, a.tests...)
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

func git(ctx context.Context, arguments ...string) (string, error) {
	text, err := exec.CommandContext(ctx, "git", arguments...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(text)), nil
}
