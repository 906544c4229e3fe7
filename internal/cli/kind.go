package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) kindCommand() *cobra.Command {
	cmd := noun("kind", "List, pause and configure kinds (job types)", s.kindListCommand(), s.kindSetCommand(), s.kindPauseCommand(), s.kindResumeCommand())
	s.completeFirst(cmd, kindNames, "list")
	return s.prints(s.connects(cmd))
}

func (s *session) kindListCommand() *cobra.Command {
	return verb("list", "List kinds that have live jobs, are handled by a node, are paused or have confidential fields", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.kinds.ListKinds(ctx, &fairleadv1.ListKindsRequest{})
		if err != nil {
			return err
		}
		table := c.Table("NAME", "NODES", "PAUSED", "REASON", "CONFIDENTIAL")
		for _, kind := range all.GetItems() {
			table.Add(kind.GetName(), kind.GetNodes(), pausedCell(kind.GetPaused()), kind.GetPauseReason(), strings.Join(kind.GetConfidential(), " "))
		}
		return c.printTable(all, table)
	}))
}

func (s *session) kindSetCommand() *cobra.Command {
	var fields []string
	cmd := verb("set NAME", "Set the confidential fields of a kind", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.kinds.SetKind(ctx, &fairleadv1.SetKindRequest{Name: c.args[0], Confidential: fields})
		if err != nil {
			return err
		}
		if len(fields) == 0 {
			return c.say(answer, "kind %s has no confidential fields", c.args[0])
		}
		return c.say(answer, "confidential fields of kind %s: %s", c.args[0], strings.Join(answer.GetConfidential(), ", "))
	}))
	cmd.Long = cmd.Short + ", replacing the previous ones.\n\nFields declared by handlers are added when their node starts."
	cmd.Example = "  fairlead kind set payment --confidential args.card.number,output.iban"
	cmd.Flags().StringSliceVar(&fields, "confidential", nil, "path of a confidential field, such as args.card.number (repeatable; required; \"\" clears the list)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("confidential") {
			return Usagef(`specify the confidential fields with --confidential PATH, or use --confidential "" for none`)
		}
		return nil
	}
	return cmd
}

// pauseReason registers the flag for the reason of a pause.
func pauseReason(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "reason", "", "reason for pausing, shown with the pause (default: none)")
}

// pausedCell returns the cell that shows whether an object is paused.
func pausedCell(paused bool) screen.Cell {
	if paused {
		return screen.Cell{Text: "yes", Tone: screen.Warn}
	}
	return screen.Cell{}
}

func (s *session) kindPauseCommand() *cobra.Command {
	var reason string
	cmd := verb("pause NAME", "Pause a kind; its running jobs continue", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.kinds.PauseKind(ctx, &fairleadv1.KindRequest{Name: c.args[0], Reason: reason})
		if err != nil {
			return err
		}
		return c.say(answer, "kind %s paused", c.args[0])
	}))
	pauseReason(cmd, &reason)
	return cmd
}

func (s *session) kindResumeCommand() *cobra.Command {
	return verb("resume NAME", "Resume a paused kind", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.kinds.ResumeKind(ctx, &fairleadv1.KindRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "kind %s resumed", c.args[0])
	}))
}
