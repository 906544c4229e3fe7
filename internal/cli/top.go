package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/screen"
	"github.com/fairlead-io/fairlead/internal/top"
)

func (s *session) topCommand() *cobra.Command {
	var once bool
	var every time.Duration
	cmd := verb("top", "Watch queues, tenants, nodes and failures live", s.runs(func(ctx context.Context, c *call) error {
		if every < 100*time.Millisecond {
			return Usagef("--every %s must be at least 100ms", every)
		}
		source := top.Source{URL: c.url, System: c.system, Queues: c.queues, Nodes: c.nodes, Jobs: c.jobs}
		if once || !c.Terminal || !screen.IsTerminal(c.in) {
			return top.Once(ctx, source, c.Screen)
		}
		return top.Run(ctx, source, every, c.in, c.Screen)
	}))
	cmd.Long = cmd.Short + ". Without a terminal, or with --once, the command prints the current state once and exits.\n\n" +
		"Keys: q quits, p pauses, tab and the arrow keys switch panes and scroll, / filters by name."
	cmd.Flags().BoolVar(&once, "once", false, "print the current state once and exit")
	cmd.Flags().DurationVar(&every, "every", time.Second, "refresh interval")
	return s.connects(cmd)
}
