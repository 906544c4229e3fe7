package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

const applyLong = `Apply a file of YAML or JSON documents to the server. Entries use the field names of the API and are matched
by name. A document may contain any of these lists:

  tenants: [{name: shop, max_running: 10}]
  limits: [{scope: "queue:mail", rate: 50}]
  calendars: [{name: feast, dates: ["12-25"]}]
  schedules: [{name: nightly, cron: "0 3 * * *", job: {kind: report}}]
  sweeps: [{name: mail-all, kind: mail, to: 5000000}]
  alerts: [{name: pager, url: "https://pager.example/hook", on: [failed, backlog], backlog: 300s}]

or a single schedule, as written by "fairlead schedule export". Omitted fields get their default values, with two
exceptions: a schedule stays enabled or disabled, and a tenant stays paused or not, unless the file says otherwise.
For an existing sweep, apply changes only the fields in the file. Anything that the file does not list stays unchanged.

The command first shows the changes. On a terminal it asks for confirmation; without a terminal it requires --yes.
With --dry-run it stops after showing the changes. With --what-if it changes nothing either: it shows which jobs would
start next and which scheduled times would change. The preview does not cover sweeps and alerts.`

// applyCommand returns the command that applies files with all kinds of settings.
func (s *session) applyCommand() *cobra.Command {
	cmd := s.filesCommand("apply", "Apply tenants, limits, calendars, schedules, sweeps and alerts from a file")
	cmd.Example = "  fairlead apply -f cluster.yaml --dry-run\n  fairlead apply -f cluster.yaml --yes"
	return s.prints(s.connects(cmd))
}

func (s *session) scheduleApplyCommand() *cobra.Command {
	cmd := s.filesCommand("apply", "Apply schedules from a file")
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
			return Usagef("the file refers to calendars that do not exist; nothing was changed: create them first, or add them to the file as {calendars: [{name: …}]}")
		}
		if !yes {
			if file == "-" || !screen.IsTerminal(c.in) || !c.errors.Terminal {
				return Usagef("cannot ask for confirmation without a terminal: add --yes to apply the changes, or --dry-run to only show them")
			}
			if err := c.confirm("apply these changes?"); err != nil {
				return err
			}
		}
		done, err := all.make(ctx, c)
		if err != nil && done > 0 {
			return fmt.Errorf("after applying %d of %d changes: %w", done, len(all.changes), err)
		}
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%d of %d entries changed\n", len(all.changes), wanted.entries())
		}
		return err
	})
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "file of YAML or JSON documents, or - for standard input (required)")
	f.BoolVar(&dryRun, "dry-run", false, "show the changes without applying them")
	f.BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

// change is an entry of a file that differs from the server's settings.
type change interface {
	text() string
	// asked returns the change as a what-if question, or nil if it affects neither starts
	// nor scheduled times.
	asked() *fairleadv1.WhatIfChange
	make(ctx context.Context, c *call) error
}

// fileChanges contains all changes required by a file.
type fileChanges struct {
	changes []change // in the order in which they are made
	missing []string // descriptions of missing calendars
}

// fileChanges compares a file with the server's settings. Entries come after those that
// they refer to: tenants before their schedules, calendars before schedules.
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

// show prints the changes and the missing calendars.
func (all *fileChanges) show(c *call) error {
	var lines []string
	for _, change := range all.changes {
		lines = append(lines, change.text())
	}
	_, err := fmt.Fprint(c.Out, strings.Join(append(lines, all.missing...), ""))
	return err
}

// whatIf shows the effects that the changes would have.
func (all *fileChanges) whatIf(ctx context.Context, c *call) error {
	var questions []*fairleadv1.WhatIfChange
	for _, change := range all.changes {
		if question := change.asked(); question != nil {
			questions = append(questions, question)
		}
	}
	if len(questions) == 0 {
		_, err := fmt.Fprintln(c.errors.Out, "the changes in the file do not affect which jobs start or when schedules are due")
		return err
	}
	return c.whatIf(ctx, questions...)
}

// make makes the changes and returns their number.
func (all *fileChanges) make(ctx context.Context, c *call) (done int, err error) {
	for _, change := range all.changes {
		if err := change.make(ctx, c); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}
