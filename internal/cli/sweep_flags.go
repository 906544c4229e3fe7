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

// sweepFlags are what can be said of a sweep.
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
	f.StringVar(&t.kind, "kind", "", "names the handler of its items")
	f.StringVar(&t.args, "args", "", "what the handler is given with every item: JSON, @FILE or - for what is piped in")
	f.Int64Var(&t.from, "from", 0, "the first index")
	f.Int64Var(&t.to, "to", 0, "the first index that does not count any more (0: as many as the source has)")
	f.StringVar(&t.file, "source-file", "", "items are lines of this file, which every node can read")
	f.StringVar(&t.url, "source-url", "", "items are lines of what is there")
	f.StringVar(&t.items, "source-list", "", "items are the lines of this file, or of what is piped in (-), stored with the sweep; at most 100000")
	f.StringVar(&t.table, "source-table", "", "items are rows of a table: DATABASE/TABLE/KEY")
	f.Int32Var(&t.inFlight, "in-flight", 0, "items that are handled at once (0: 16)")
	f.Float64Var(&t.rate, "rate", 0, "items begun per second (0: no bound)")
	f.BoolVar(&t.serial, "serial", false, "one item after the other")
	f.BoolVar(&t.adaptive, "adaptive", false, "go slower while the target errs or is slow")
	f.Int32Var(&t.window, "window", 0, "items between the first that is not done and the last that was begun (0: by --in-flight)")
	f.Int32Var(&t.shards, "shards", 0, "parts that may run on several nodes at once (0: 1)")
	f.Int32Var(&t.perCall, "per-call", 0, "items that one call of an HTTP target gets (0: 1)")
	f.Int32Var(&t.tries, "attempts", 0, "of one item (0: 5)")
	f.DurationVar(&t.backoff, "backoff", 0, "between them (0: 3s)")
	f.DurationVar(&t.itemTimeout, "item-timeout", 0, "of one attempt (0: the handler's)")
	f.StringVar(&t.budget, "error-budget", "", "items that may fail before it stops, as 50, 2%, 10/m or 50,2% (default \"100\")")
	f.StringVar(&t.exhausted, "on-exhausted", "", "an item whose attempts are used up: abandon or stop (default \"abandon\")")
	f.StringVar(&t.beforeCreate, "before-create", "", "URL that is asked before it is created, and may refuse it")
	f.StringVar(&t.beforeRun, "before-run", "", "URL that gets a message when it starts; the sweep then waits until it is opened")
	f.DurationVar(&t.gateTimeout, "gate-timeout", 0, "after which --before-run gets the message again (0: 30m)")
	f.StringVar(&t.queue, "queue", "", "which nodes run it (default \"default\")")
	f.StringVar(&t.tenant, "tenant", "", "the tenant that it runs for (default \"default\")")
	f.Int32Var(&t.priority, "priority", 0, "higher goes first")
	complete(cmd, "on-exhausted", oneOf("abandon", "stop"))
	complete(cmd, "queue", s.asked(queueNames))
	complete(cmd, "tenant", s.asked(tenantNames))
}

// apply sets those fields of a sweep whose flags were given. Of what has parts, those
// that are not given stay as they are.
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
		return nil, Usagef("--source-table %q: give DATABASE/TABLE/KEY, as crm/users/id", t.table)
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

// parseBudget reads a number of items, a percentage, a number per minute, or several of
// these.
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
			return nil, Usagef("--error-budget %q: give a number of items, a percentage, a number per minute, or several, as 50,2%%,10/m", text)
		}
	}
	return budget, nil
}

func (s *session) sweepCreateCommand() *cobra.Command {
	var flags sweepFlags
	var start bool
	var wait waiting
	cmd := verb("create NAME", "Store a sweep; --start lets it run", nil)
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
	cmd.Flags().BoolVar(&start, "start", false, "let it run")
	wait.flag(cmd)
	return cmd
}

func (s *session) sweepSetCommand() *cobra.Command {
	var flags sweepFlags
	var cleared []string
	cmd := verb("set NAME", "Change a sweep: only what is given; a rate counts about a second later", nil)
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
	cmd.Flags().StringSliceVar(&cleared, "clear", nil, "give this field its default, as timeout (repeatable)")
	return cmd
}

// changes reports whether a change has more than the name of what is changed.
func changes(change *fairleadv1.Sweep) bool {
	fields := change.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Name() != "ref" && change.ProtoReflect().Has(f) {
			return true
		}
	}
	return false
}
