package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) jobExplainCommand() *cobra.Command {
	var history bool
	cmd := verb("explain ID", "Explain why a job is not running, or describe its current run", s.withID(func(ctx context.Context, c *call, id int64) error {
		if history {
			return c.tellHistory(ctx, id)
		}
		why, err := c.jobs.ExplainJob(ctx, &fairleadv1.GetJobRequest{Id: id})
		if err != nil {
			return err
		}
		return c.print(why, func() error {
			past, err := c.jobs.ListAttempts(ctx, &fairleadv1.GetJobRequest{Id: id})
			if err != nil {
				return err
			}
			awaited, err := c.awaited(ctx, why)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.Out, explanation(c.printer, why), awaited, lastFailure(c.printer, past.GetItems()))
			return err
		})
	}))
	cmd.Flags().BoolVar(&history, "history", false, "show what the job waited for between its due time and its start")
	return cmd
}

// awaited returns the deadline for the answer to a waiting job, and how to answer in place
// of the target.
func (c *call) awaited(ctx context.Context, why *fairleadv1.Explanation) (string, error) {
	if why.GetState() != "waiting" {
		return "", nil
	}
	job, err := c.jobs.GetJob(ctx, &fairleadv1.GetJobRequest{Id: why.GetId()})
	if err != nil || job.GetState() != "waiting" {
		return "", err
	}
	text := ""
	if job.GetDeadline() != nil {
		text = "without a result, the attempt fails " + c.moment(job.GetDeadline().AsTime()) + "\n"
	}
	return text + fmt.Sprintf("to report a result on behalf of the target, run fairlead job finish %d or fairlead job fail %[1]d\n", job.GetId()), nil
}

// lastFailure returns the last failure, which is often why a job is backing off or has
// failed.
func lastFailure(p *printer, failed []*fairleadv1.Attempt) string {
	if len(failed) == 0 {
		return ""
	}
	last := failed[len(failed)-1]
	text := fmt.Sprintf("attempt %d failed %s (%s)", last.GetRun(), p.moment(last.GetFinishedAt().AsTime()), last.GetReason())
	if last.GetError() != "" {
		text += ": " + screen.Clean(last.GetError())
	}
	return text + "\n"
}

// explanation describes in sentences what keeps a job from starting.
func explanation(p *printer, why *fairleadv1.Explanation) string {
	var out strings.Builder
	obstacles := why.GetObstacles()
	fmt.Fprintf(&out, "job %d %s", why.GetId(), inState(why.GetState()))
	switch {
	case len(obstacles) > 0:
		out.WriteString(" and cannot start yet:\n")
	case why.GetState() == "ready":
		out.WriteString(" and nothing prevents it from starting\n")
	case why.GetState() == "waiting":
		out.WriteString(": its target accepted it and has not reported a result yet\n")
	default:
		out.WriteString("\n")
	}
	if run := why.GetRun(); run != nil {
		out.WriteString(currentRun(p, run))
	}
	for _, o := range obstacles {
		out.WriteString(obstacleLine(p, o))
	}
	if share := why.GetShare(); share != nil {
		out.WriteString(screen.Clean(share.GetText()) + "\n")
	}
	inLine := slices.ContainsFunc(obstacles, func(o *fairleadv1.Obstacle) bool { return o.GetCode() == string(fairlead.InLine) })
	switch ahead := why.GetAhead(); {
	case inLine: // already reported
	case ahead == 1:
		out.WriteString("1 job is ahead of it\n")
	case ahead > 1:
		fmt.Fprintf(&out, "%d jobs are ahead of it\n", ahead)
	}
	switch {
	case why.GetStart() != nil:
		out.WriteString("estimated start: " + p.moment(why.GetStart().AsTime()) + "\n")
	case why.GetNoEstimate() != nil && why.GetNoEstimate().GetReason() != string(fairlead.NoEnd):
		out.WriteString("no estimated start time: " + screen.Clean(why.GetNoEstimate().GetText()) + "\n")
	case len(obstacles) > 0:
		out.WriteString("no estimated start time\n")
	}
	return out.String()
}

// obstacleLine returns a line about one obstacle.
func obstacleLine(p *printer, o *fairleadv1.Obstacle) string {
	line := "  - " + screen.Clean(o.GetText())
	if o.GetUntil() != nil && p.Terminal {
		line += " (" + p.When(o.GetUntil().AsTime()) + ")"
	}
	if kinds := o.GetKinds(); len(kinds) > 0 {
		names, taken := make([]string, len(kinds)), false
		for i, kind := range kinds {
			names[i] = screen.Clean(kind.GetKind())
			if kind.GetJobs() > 0 {
				names[i], taken = fmt.Sprintf("%d of kind %s", kind.GetJobs(), names[i]), true
			}
		}
		if taken {
			line += ": " + strings.Join(names, ", ")
		} else {
			line += "; live nodes handle " + strings.Join(names, ", ")
		}
	}
	return line + "\n"
}

// currentRun describes the state of a run in sentences.
func currentRun(p *printer, run *fairleadv1.CurrentRun) string {
	node := fmt.Sprintf("node %d", run.GetNode())
	if run.GetName() != "" {
		node += " (" + screen.Clean(run.GetName()) + ")"
	}
	lines := []string{fmt.Sprintf("running on %s; started %s", node, p.moment(run.GetSince().AsTime()))}
	if run.GetTimeout() != nil {
		lines = append(lines, "the attempt times out after "+screen.Span(run.GetTimeout().AsDuration())+", "+p.moment(run.GetSince().AsTime().Add(run.GetTimeout().AsDuration())))
	}
	switch {
	case run.GetLastBeat() == nil:
		lines = append(lines, "its node is no longer known: the job will be recovered shortly")
	case run.GetLost():
		lines = append(lines, "last heartbeat of its node: "+p.moment(run.GetLastBeat().AsTime())+"; the node lost its lease and the job will be recovered shortly")
	default:
		lines = append(lines, "last heartbeat of its node: "+p.moment(run.GetLastBeat().AsTime()))
	}
	if run.GetCrashes() > 0 {
		lines = append(lines, fmt.Sprintf("node crashes while running it since its last progress report: %d", run.GetCrashes()))
	}
	if run.GetStopping() {
		lines = append(lines, "stop requested")
	}
	return "  - " + strings.Join(lines, "\n  - ") + "\n"
}
