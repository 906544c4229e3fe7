package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) kindCommand() *cobra.Command {
	cmd := noun("kind", "What jobs are, and which nodes can run them", s.kindListCommand(), s.kindSetCommand(), s.kindPauseCommand(), s.kindResumeCommand())
	s.completeFirst(cmd, kindNames, "list")
	return s.prints(s.connects(cmd))
}

func (s *session) kindListCommand() *cobra.Command {
	return verb("list", "List the kinds that nodes handle, that are paused, or that have confidential fields", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.kinds.ListKinds(ctx, &fairleadv1.ListKindsRequest{})
		if err != nil {
			return err
		}
		table := c.Table("NAME", "NODES", "PAUSED", "CONFIDENTIAL")
		for _, kind := range all.GetItems() {
			table.Add(kind.GetName(), kind.GetNodes(), pausedCell(kind.GetPaused()), strings.Join(kind.GetConfidential(), " "))
		}
		return c.printTable(all, table)
	}))
}

func (s *session) kindSetCommand() *cobra.Command {
	var fields []string
	cmd := verb("set NAME", "Set which fields of the jobs of a kind are confidential", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.kinds.SetKind(ctx, &fairleadv1.SetKindRequest{Name: c.args[0], Confidential: fields})
		if err != nil {
			return err
		}
		if len(fields) == 0 {
			return c.say(answer, "nothing of kind %s is confidential", c.args[0])
		}
		return c.say(answer, "of kind %s %s is confidential", c.args[0], strings.Join(answer.GetConfidential(), ", "))
	}))
	cmd.Long = cmd.Short + ", instead of those that were.\n\nHandlers that declare fields add them when their node starts."
	cmd.Example = "  fairlead kind set payment --confidential args.card.number,output.iban"
	cmd.Flags().StringSliceVar(&fields, "confidential", nil, "path of a field, as args.card.number (repeatable); \"\" for nothing")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("confidential") {
			return Usagef(`say what is confidential: --confidential PATH, or --confidential "" for nothing`)
		}
		return nil
	}
	return cmd
}

// pausedCell says that something is paused.
func pausedCell(paused bool) screen.Cell {
	if paused {
		return screen.Cell{Text: "yes", Tone: screen.Warn}
	}
	return screen.Cell{}
}

func (s *session) kindPauseCommand() *cobra.Command {
	return verb("pause NAME", "Stop jobs of a kind from starting, on all nodes", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.kinds.PauseKind(ctx, &fairleadv1.KindRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "kind %s is paused", c.args[0])
	}))
}

func (s *session) kindResumeCommand() *cobra.Command {
	return verb("resume NAME", "Let jobs of a kind start again", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.kinds.ResumeKind(ctx, &fairleadv1.KindRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "kind %s is resumed", c.args[0])
	}))
}
