package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// asksWhatIf adds the --what-if flag to a command that saves something.
func asksWhatIf(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("what-if", false, "preview without saving: show which jobs would start next or wait longer, and which scheduled times would change")
}

// whatIf shows the effects that changes would have.
func (c *call) whatIf(ctx context.Context, changes ...*fairleadv1.WhatIfChange) error {
	answer, err := c.whatIfs.WhatIf(ctx, &fairleadv1.WhatIfRequest{Changes: changes})
	if err != nil {
		return err
	}
	return c.print(answer, func() error {
		for _, sentence := range answer.GetText() {
			if _, err := fmt.Fprintln(c.Out, screen.Clean(sentence)); err != nil {
				return err
			}
		}
		for _, table := range c.comparisons(answer) {
			if _, err := fmt.Fprintln(c.Out); err != nil {
				return err
			}
			if err := table.Write(); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(c.Out, "\nnothing was saved")
		return err
	})
}

// comparisons returns the non-empty tables of a response.
func (c *call) comparisons(answer *fairleadv1.WhatIfResponse) (tables []*screen.Table) {
	if len(answer.GetBefore())+len(answer.GetAfter()) > 0 {
		tables = append(tables, c.startsTable(answer))
	}
	if len(answer.GetWaits()) > 0 {
		tables = append(tables, c.waitsTable(answer.GetWaits()))
	}
	for _, schedule := range answer.GetSchedules() {
		if len(schedule.GetInstants()) > 0 {
			tables = append(tables, c.instantsTable(schedule))
		}
	}
	return tables
}

// startsTable returns a table of the jobs that would start, in order, followed by those
// that would no longer start.
func (c *call) startsTable(answer *fairleadv1.WhatIfResponse) *screen.Table {
	table := c.Table("BEFORE", "AFTER", "JOB", "TENANT", "KIND", "QUEUE", "PRIORITY", "EFFECT")
	place := func(of []*fairleadv1.ForecastStart, job int64) int {
		return 1 + slices.IndexFunc(of, func(start *fairleadv1.ForecastStart) bool { return start.GetJob() == job })
	}
	add := func(start *fairleadv1.ForecastStart) {
		before, after := place(answer.GetBefore(), start.GetJob()), place(answer.GetAfter(), start.GetJob())
		effect := screen.Cell{}
		switch {
		case before == 0:
			effect = screen.Cell{Text: "starts", Tone: screen.Good}
		case after == 0:
			effect = screen.Cell{Text: "waits", Tone: screen.Bad}
		case before != after:
			effect = screen.Cell{Text: "moves", Tone: screen.Warn}
		}
		table.Add(screen.Limit(int32(before)), screen.Limit(int32(after)), start.GetJob(), start.GetTenant(), start.GetKind(), start.GetQueue(), start.GetPriority(), effect)
	}
	for _, start := range answer.GetAfter() {
		add(start)
	}
	for _, start := range answer.GetBefore() {
		if place(answer.GetAfter(), start.GetJob()) == 0 {
			add(start)
		}
	}
	return table
}

// waitsTable returns a table of the effects on ready jobs by tenant, kind and queue.
func (c *call) waitsTable(waits []*fairleadv1.ForecastWait) *screen.Table {
	table := c.Table("TENANT", "KIND", "QUEUE", "STARTS BEFORE", "STARTS AFTER", "EFFECT", "HELD BACK BY")
	for _, wait := range waits {
		effect := screen.Cell{Text: wait.GetEffect(), Tone: map[string]screen.Tone{"later": screen.Bad, "sooner": screen.Good}[wait.GetEffect()]}
		held := ""
		if all := wait.GetHeldAfter(); len(all) > 0 {
			held = all[0].GetText()
		}
		table.Add(wait.GetTenant(), wait.GetKind(), wait.GetQueue(), wait.GetStartsBefore(), wait.GetStartsAfter(), effect, held)
	}
	return table
}

// instantsTable returns a table of the effects on the instants of a schedule.
func (c *call) instantsTable(schedule *fairleadv1.ForecastSchedule) *screen.Table {
	table := c.Table("SCHEDULE", "DUE", "BEFORE", "AFTER", "EFFECT")
	tones := map[string]screen.Tone{"appears": screen.Good, "disappears": screen.Bad, "moves": screen.Warn, "becomes": screen.Warn}
	for _, instant := range schedule.GetInstants() {
		table.Add(schedule.GetName(), instant.GetDue(), orNone(instant.GetBefore().GetText()), orNone(instant.GetAfter().GetText()),
			screen.Cell{Text: instant.GetEffect(), Tone: tones[instant.GetEffect()]})
	}
	return table
}
