package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) sweepExplainCommand() *cobra.Command {
	return verb("explain NAME", "Explain what holds up a sweep and the jobs of its shards", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		why, err := c.sweeps.ExplainSweep(ctx, about)
		return c.saySituation("sweep", why, err)
	}))
}

func (s *session) batchExplainCommand() *cobra.Command {
	return verb("explain ID", "Explain what holds up a batch and the jobs of its tasks", s.withID(func(ctx context.Context, c *call, id int64) error {
		why, err := c.batches.ExplainBatch(ctx, &fairleadv1.GetBatchRequest{Id: id})
		return c.saySituation("batch", why, err)
	}))
}

// saySituation prints the situation of an object that creates jobs, or returns the call's
// error.
func (c *call) saySituation(what string, why *fairleadv1.Situation, err error) error {
	if err != nil {
		return err
	}
	return c.print(why, func() error {
		_, err := fmt.Fprint(c.Out, situation(c.printer, what, why))
		return err
	})
}

// situation describes the situation of an object that creates jobs, in sentences.
func situation(p *printer, what string, why *fairleadv1.Situation) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s: %s\n", what, screen.Clean(why.GetName()), why.GetState())
	for _, o := range why.GetReasons() {
		out.WriteString(obstacleLine(p, o))
	}
	for _, job := range why.GetJobs() {
		out.WriteString(explanation(p, job))
	}
	return out.String()
}
