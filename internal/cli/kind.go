package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) kindCommand() *cobra.Command {
	cmd := noun("kind", "What jobs are, and which nodes can run them", s.kindListCommand(), s.kindPauseCommand(), s.kindResumeCommand())
	s.completeFirst(cmd, kindNames, "list")
	return s.prints(s.connects(cmd))
}

func (s *session) kindListCommand() *cobra.Command {
	return verb("list", "List the kinds that nodes handle, or that are paused", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.kinds.ListKinds(ctx, &fairleadv1.ListKindsRequest{})
		if err != nil {
			return err
		}
		table := c.Table("NAME", "NODES", "PAUSED")
		for _, kind := range all.GetItems() {
			table.Add(kind.GetName(), kind.GetNodes(), pausedCell(kind.GetPaused()))
		}
		return c.printTable(all, table)
	}))
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
