package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// sweepFlags holds the flags of a sweep.
type sweepFlags struct {
	kind, exhausted, queue, tenant           string
	from, to                                 int64
	inFlight, window, shards, perCall, tries int32
	priority                                 int32
	rate                                     float64
	serial, adaptive                         bool
	backoff, itemTimeout                     time.Duration
	args, budget, table, file, url, items    string
	beforeCreate, beforeRun                  string
	gateTimeout                              time.Duration
}

func (t *sweepFlags) register(cmd *cobra.Command, s *session) {
	f := cmd.Flags()
	f.StringVar(&t.kind, "kind", "", "kind of job that processes the items (required by create)")
	f.StringVar(&t.args, "args", "", "input passed to the handler with every item: JSON, @FILE, or - for standard input (default: none)")
	f.Int64Var(&t.from, "from", 0, "index of the first item (default 0)")
	f.Int64Var(&t.to, "to", 0, "index after the last item, exclusive (0 = the end of the source)")
	f.StringVar(&t.file, "source-file", "", "file with one item per line, readable on every node (default: none)")
	f.StringVar(&t.url, "source-url", "", "URL of a document with one item per line (default: none)")
	f.StringVar(&t.items, "source-list", "", "local file with one item per line, or - for standard input; at most 100000 items, stored with the sweep (default: none)")
	f.StringVar(&t.table, "source-table", "", "database table with one item per row, as DATABASE/TABLE/KEY (default: none)")
	f.Int32Var(&t.inFlight, "in-flight", 0, "maximum number of items processed at once (default 16)")
	f.Float64Var(&t.rate, "rate", 0, "maximum number of items started per second (0 = unlimited)")
	f.BoolVar(&t.serial, "serial", false, "process one item at a time, in order")
	f.BoolVar(&t.adaptive, "adaptive", false, "slow down while the target returns errors or responds slowly")
	f.Int32Var(&t.window, "window", 0, "maximum distance between the first unfinished item and the last started item (0 = derived from --in-flight)")
	f.Int32Var(&t.shards, "shards", 0, "number of shards, which can run on different nodes (default 1)")
	f.Int32Var(&t.perCall, "per-call", 0, "number of items sent in one HTTP call (default 1)")
	f.Int32Var(&t.tries, "attempts", 0, "maximum number of attempts per item (default 5)")
	f.DurationVar(&t.backoff, "backoff", 0, "delay between attempts of an item (default 3s)")
	f.DurationVar(&t.itemTimeout, "item-timeout", 0, "timeout per attempt of an item (0 = the handler's timeout)")
	f.StringVar(&t.budget, "error-budget", "", "failures at which the sweep stops: a count, a percentage, a count per minute or a combination, such as 50,2%,10/m (default \"100\")")
	f.StringVar(&t.exhausted, "on-exhausted", "", "action when an item runs out of attempts: abandon the item or stop the sweep (default \"abandon\")")
	f.StringVar(&t.beforeCreate, "before-create", "", "URL to call before the sweep is created; its response can reject the sweep (default: none)")
	f.StringVar(&t.beforeRun, "before-run", "", "URL to call when the sweep starts; the sweep then waits for fairlead sweep open (default: none)")
	f.DurationVar(&t.gateTimeout, "gate-timeout", 0, "interval for repeating the --before-run call while the sweep waits (default 30m)")
	f.StringVar(&t.queue, "queue", "", "queue whose nodes run the sweep (default \"default\")")
	f.StringVar(&t.tenant, "tenant", "", "tenant that owns the sweep (default \"default\")")
	f.Int32Var(&t.priority, "priority", 0, "priority of the sweep; higher values start first (default 0)")
	complete(cmd, "on-exhausted", oneOf("abandon", "stop"))
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
}

// apply sets the fields of a sweep whose flags were given. Parts of a composite field whose
// flags were not given remain unchanged.
func (t *sweepFlags) apply(cmd *cobra.Command, current, to *fairleadv1.Sweep) (err error) {
	given, budget := cmd.Flags().Changed, &fairleadv1.ErrorBudget{}
	if given("error-budget") {
		if budget, err = parseBudget(t.budget); err != nil {
			return err
		}
	}
	setGiven(cmd, (&fairleadv1.Sweep{
		Kind: &t.kind, From: &t.from, To: &t.to, InFlight: &t.inFlight, Rate: &t.rate, Serial: &t.serial, Adaptive: &t.adaptive,
		Window: &t.window, Shards: &t.shards, PerCall: &t.perCall, Attempts: &t.tries, Backoff: durationpb.New(t.backoff),
		ErrorBudget: budget, OnExhausted: &t.exhausted, Queue: &t.queue, Tenant: &t.tenant, Priority: &t.priority,
	}).ProtoReflect(), to.ProtoReflect())
	if given("item-timeout") {
		to.Timeout = durationpb.New(t.itemTimeout)
	}
	if given("source-file") || given("source-url") || given("source-table") || given("source-list") {
		if to.Source, err = t.source(cmd.InOrStdin()); err != nil {
			return err
		}
	}
	if given("before-create") || given("before-run") || given("gate-timeout") {
		to.Gate = t.gate(given, current.GetGate())
	}
	return nil
}

func (t *sweepFlags) source(in io.Reader) (*fairleadv1.ItemSource, error) {
	source := &fairleadv1.ItemSource{File: t.file, Url: t.url}
	if t.items != "" {
		raw, err := readInput(strings.TrimPrefix(t.items, "-"), in)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(raw)) {
			source.List = append(source.List, strings.TrimRight(line, "\r\n"))
		}
	}
	if t.table == "" {
		return source, nil
	}
	parts := strings.Split(t.table, "/")
	if len(parts) != 3 {
		return nil, Usagef("--source-table %q: use DATABASE/TABLE/KEY, such as crm/users/id", t.table)
	}
	source.Table = &fairleadv1.ItemTable{Database: parts[0], Name: parts[1], Key: parts[2]}
	return source, nil
}

func (t *sweepFlags) gate(given func(string) bool, current *fairleadv1.SweepGate) *fairleadv1.SweepGate {
	gate := &fairleadv1.SweepGate{BeforeCreate: current.GetBeforeCreate(), BeforeRun: current.GetBeforeRun(), Timeout: current.GetTimeout()}
	if given("before-create") {
		gate.BeforeCreate = t.beforeCreate
	}
	if given("before-run") {
		gate.BeforeRun = t.beforeRun
	}
	if given("gate-timeout") {
		gate.Timeout = durationpb.New(t.gateTimeout)
	}
	return gate
}

// parseBudget parses a number of items, a percentage, a number per minute, or a combination
// of these.
func parseBudget(text string) (*fairleadv1.ErrorBudget, error) {
	budget := &fairleadv1.ErrorBudget{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		var err error
		if percent, is := strings.CutSuffix(part, "%"); is {
			budget.Percent, err = strconv.ParseFloat(percent, 64)
		} else if rate, is := strings.CutSuffix(part, "/m"); is {
			budget.PerMinute, err = strconv.ParseInt(rate, 10, 64)
		} else {
			budget.Items, err = strconv.ParseInt(part, 10, 64)
		}
		if err != nil {
			return nil, Usagef("--error-budget %q: use a count, a percentage, a count per minute or a combination, such as 50,2%%,10/m", text)
		}
	}
	return budget, nil
}

func (s *session) sweepCreateCommand() *cobra.Command {
	var flags sweepFlags
	var start bool
	var wait waiting
	cmd := verb("create NAME", "Create a sweep; --start also starts it", nil)
	cmd.Example = "  fairlead sweep create warm --kind http --args @call.json --to 10000000000 --rate 5000 --in-flight 64 --shards 4\n" +
		"  fairlead sweep create mail --kind mail --source-url https://example.com/users.txt --rate 100 --start --wait"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		wanted := &fairleadv1.Sweep{Name: &c.args[0]}
		err := flags.apply(cmd, nil, wanted)
		if err == nil && cmd.Flags().Changed("args") {
			wanted.Args, err = readDocument("--args", flags.args, c.in)
		}
		if err != nil {
			return err
		}
		sweep, err := c.sweeps.CreateSweep(ctx, wanted)
		if err != nil {
			return err
		}
		if sweep.GetWarning() != "" {
			fmt.Fprintln(c.errors.Out, "warning:", screen.Clean(sweep.GetWarning()))
		}
		if start || wait.asked(cmd) {
			if sweep, err = c.sweeps.StartSweep(ctx, &fairleadv1.StartSweepRequest{Id: sweep.GetId()}); err != nil {
				return err
			}
		}
		if wait.asked(cmd) {
			return wait.sweep(ctx, c, sweep.GetId())
		}
		return c.saySweep(sweep, nil)
	})
	flags.register(cmd, s)
	cmd.Flags().BoolVar(&start, "start", false, "start the sweep immediately")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepSetCommand() *cobra.Command {
	var flags sweepFlags
	var cleared []string
	cmd := verb("set NAME", "Change the given fields of a sweep; a new rate takes effect within about a second", nil)
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		sweep, err := c.sweeps.GetSweep(ctx, about)
		if err != nil {
			return err
		}
		change := &fairleadv1.Sweep{Ref: about.GetId(), Clear: cleared}
		if err := flags.apply(cmd, sweep, change); err != nil {
			return err
		}
		args := cmd.Flags().Changed("args")
		if args {
			raw, err := readDocument("--args", flags.args, c.in)
			if err != nil {
				return err
			}
			if sweep, err = c.sweeps.SetSweepData(ctx, &fairleadv1.SetSweepDataRequest{Id: about.GetId(), Args: raw}); err != nil {
				return err
			}
		}
		if !args || changes(change) {
			if sweep, err = c.sweeps.PatchSweep(ctx, change); err != nil {
				return err
			}
		}
		return c.printDetails(sweep, nil)
	})
	flags.register(cmd, s)
	cmd.Flags().StringSliceVar(&cleared, "clear", nil, "field to reset to its default, such as timeout (repeatable)")
	return cmd
}

// changes reports whether a change contains more than the name of the sweep.
func changes(change *fairleadv1.Sweep) bool {
	fields := change.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Name() != "ref" && change.ProtoReflect().Has(f) {
			return true
		}
	}
	return false
}
