package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

const applyLong = `Make what the server has be as a file says: YAML or JSON documents with the fields of the API,
found by their names. A document has any of these lists:

  tenants: [{name: shop, max_running: 10}]
  limits: [{scope: "queue:mail", rate: 50}]
  calendars: [{name: feast, dates: ["12-25"]}]
  schedules: [{name: nightly, cron: "0 3 * * *", job: {kind: report}}]
  sweeps: [{name: mail-all, kind: mail, to: 5000000}]
  alerts: [{name: pager, url: "https://pager.example/hook", on: [failed, backlog], backlog: 300s}]

or is one schedule, as "fairlead schedule export" writes it. What a document does not say has its default,
but for what operators switch: whether a schedule is enabled and a tenant paused stays as it is. Of a sweep
that there is already only what is said changes. What the file does not have is left alone.

What would change is shown first. It is asked back on a terminal, and needs --yes without one; --dry-run only
shows it. --what-if asks the server which jobs would start next and which instants would move, and changes nothing
either; it leaves out sweeps and alerts.`

// applyCommand takes files of anything that has settings.
func (s *session) applyCommand() *cobra.Command {
	cmd := s.filesCommand("apply", "Make tenants, limits, calendars, schedules, sweeps and alerts be as a file says")
	cmd.Example = "  fairlead apply -f cluster.yaml --dry-run\n  fairlead apply -f cluster.yaml --yes"
	return s.prints(s.connects(cmd))
}

func (s *session) scheduleApplyCommand() *cobra.Command {
	cmd := s.filesCommand("apply", "Make schedules be as a file says")
	cmd.Example = "  fairlead schedule export > schedules.yaml\n  fairlead schedule apply -f schedules.yaml --dry-run"
	return cmd
}

func (s *session) filesCommand(use, short string) *cobra.Command {
	var file string
	var dryRun, yes bool
	cmd := verb(use, short, nil)
	ask := asksWhatIf(cmd)
	cmd.Long = applyLong
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		if file == "" {
			return Usagef("%s needs --file (see %s --help)", cmd.CommandPath(), cmd.CommandPath())
		}
		wanted, err := readManifest(file, c.in)
		if err != nil {
			return err
		}
		all, err := c.fileChanges(ctx, wanted)
		if err != nil {
			return err
		}
		if *ask {
			return all.whatIf(ctx, c)
		}
		if err := all.show(c); err != nil {
			return err
		}
		if dryRun || len(all.changes) == 0 {
			_, err := fmt.Fprintf(c.Out, "%d of %d entries differ\n", len(all.changes), wanted.entries())
			return err
		}
		if len(all.missing) > 0 {
			return Usagef("the file names calendars that do not exist: nothing was changed; create them first, or add them to the file as {calendars: [{name: …}]}")
		}
		if !yes {
			if file == "-" || !screen.IsTerminal(c.in) || !c.errors.Terminal {
				return Usagef("without a terminal nothing confirms that you want to apply this: add --yes, or --dry-run to see it only")
			}
			if err := c.confirm("apply this?"); err != nil {
				return err
			}
		}
		done, err := all.make(ctx, c)
		if err != nil && done > 0 {
			return fmt.Errorf("after %d of %d changes were made: %w", done, len(all.changes), err)
		}
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%d of %d entries changed\n", len(all.changes), wanted.entries())
		}
		return err
	})
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "YAML or JSON documents, or - for what is piped in")
	f.BoolVar(&dryRun, "dry-run", false, "only show what would change")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// change is an entry of a file that is not as the server has it.
type change interface {
	text() string
	// asked is the change as a question; nil: it decides neither about starts nor instants.
	asked() *fairleadv1.WhatIfChange
	make(ctx context.Context, c *call) error
}

// fileChanges are all that is to become as a file says.
type fileChanges struct {
	changes []change // in the order in which they are made
	missing []string // calendars, in words
}

// fileChanges compares what a file says with what there is. What others name comes
// before them: tenants before what runs for them, calendars before schedules.
func (c *call) fileChanges(ctx context.Context, wanted *manifest) (*fileChanges, error) {
	tenants, err := c.tenantChanges(ctx, wanted.tenants)
	if err != nil {
		return nil, err
	}
	limits, err := c.limitChanges(ctx, wanted.limits)
	if err != nil {
		return nil, err
	}
	calendars, missing, err := c.calendarChanges(ctx, wanted)
	if err != nil {
		return nil, err
	}
	schedules, err := c.scheduleChanges(ctx, wanted.schedules)
	if err != nil {
		return nil, err
	}
	sweeps, err := c.sweepChanges(ctx, wanted.sweeps)
	if err != nil {
		return nil, err
	}
	alerts, err := c.alertChanges(ctx, wanted.alerts)
	if err != nil {
		return nil, err
	}
	all := &fileChanges{missing: missing}
	for _, some := range [][]change{tenants, limits, calendars, schedules, sweeps, alerts} {
		all.changes = append(all.changes, some...)
	}
	return all, nil
}

// show shows what would change, and what is missing for it.
func (all *fileChanges) show(c *call) error {
	var lines []string
	for _, change := range all.changes {
		lines = append(lines, change.text())
	}
	_, err := fmt.Fprint(c.Out, strings.Join(append(lines, all.missing...), ""))
	return err
}

// whatIf shows what would happen if the changes were made.
func (all *fileChanges) whatIf(ctx context.Context, c *call) error {
	var questions []*fairleadv1.WhatIfChange
	for _, change := range all.changes {
		if question := change.asked(); question != nil {
			questions = append(questions, question)
		}
	}
	if len(questions) == 0 {
		_, err := fmt.Fprintln(c.errors.Out, "nothing differs that decides about starts or instants")
		return err
	}
	return c.whatIf(ctx, questions...)
}

// make makes the changes, and returns how many.
func (all *fileChanges) make(ctx context.Context, c *call) (done int, err error) {
	for _, change := range all.changes {
		if err := change.make(ctx, c); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}
