package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) jobExplainCommand() *cobra.Command {
	return verb("explain ID", "Say why a job does not run", s.withID(func(ctx context.Context, c *call, id int64) error {
		why, err := c.jobs.ExplainJob(ctx, &fairleadv1.GetJobRequest{Id: id})
		if err != nil {
			return err
		}
		return c.print(why, func() error {
			past, err := c.jobs.ListAttempts(ctx, &fairleadv1.GetJobRequest{Id: id})
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.Out, explanation(c.printer, why), lastFailure(c.printer, past.GetItems()))
			return err
		})
	}))
}

// lastFailure returns what went wrong the last time, which is often why a job
// backs off, or has failed for good.
func lastFailure(p *printer, failed []*fairleadv1.Attempt) string {
	if len(failed) == 0 {
		return ""
	}
	last := failed[len(failed)-1]
	text := fmt.Sprintf("run %d failed at %s (%s)", last.GetRun(), p.moment(last.GetFinishedAt().AsTime()), last.GetReason())
	if last.GetError() != "" {
		text += ": " + screen.Clean(last.GetError())
	}
	return text + "\n"
}

// explanation tells in sentences what keeps a job from starting.
func explanation(p *printer, why *fairleadv1.Explanation) string {
	var out strings.Builder
	obstacles := why.GetObstacles()
	fmt.Fprintf(&out, "job %d is %s", why.GetId(), why.GetState())
	switch {
	case len(obstacles) > 0:
		out.WriteString(" and cannot start yet:\n")
	case why.GetState() == "ready":
		out.WriteString(" and nothing keeps it from starting\n")
	default:
		out.WriteString("\n")
	}
	for _, o := range obstacles {
		out.WriteString("  - " + screen.Clean(o.GetText()))
		if o.GetUntil() != nil && p.Terminal {
			out.WriteString(" (" + p.When(o.GetUntil().AsTime()) + ")")
		}
		out.WriteString("\n")
	}
	if share := why.GetShare(); share != nil {
		out.WriteString(screen.Clean(share.GetText()) + "\n")
	}
	switch ahead := why.GetAhead(); {
	case ahead == 1:
		out.WriteString("1 job goes before it\n")
	case ahead > 1:
		fmt.Fprintf(&out, "%d jobs go before it\n", ahead)
	}
	switch {
	case why.GetStart() != nil:
		out.WriteString("it will probably start " + p.moment(why.GetStart().AsTime()) + "\n")
	case len(obstacles) > 0:
		out.WriteString("it is not known when it will start\n")
	}
	return out.String()
}
