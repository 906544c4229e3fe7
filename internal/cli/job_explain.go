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
	cmd := verb("explain ID", "Say why a job does not run, or how it runs", s.withID(func(ctx context.Context, c *call, id int64) error {
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
	cmd.Flags().BoolVar(&history, "history", false, "say instead what it waited for, from when it was due until it started")
	return cmd
}

// awaited tells until when the answer to a waiting job has to come, and how to give it
// in place of the target.
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
		text = "without an answer its run fails " + c.moment(job.GetDeadline().AsTime()) + "\n"
	}
	return text + fmt.Sprintf("fairlead job finish %d and fairlead job fail %[1]d answer for the target\n", job.GetId()), nil
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
	case why.GetState() == "waiting":
		out.WriteString(": its target has accepted it and is to answer\n")
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
	case inLine: // it was said
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

// obstacleLine is a line about one obstacle.
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
			line += "; live nodes know " + strings.Join(names, ", ")
		}
	}
	return line + "\n"
}

// currentRun tells in sentences how a run stands.
func currentRun(p *printer, run *fairleadv1.CurrentRun) string {
	node := fmt.Sprintf("node %d", run.GetNode())
	if run.GetName() != "" {
		node += " (" + screen.Clean(run.GetName()) + ")"
	}
	lines := []string{fmt.Sprintf("it runs on %s since %s", node, p.moment(run.GetSince().AsTime()))}
	if run.GetTimeout() != nil {
		lines = append(lines, "its attempt may take "+screen.Span(run.GetTimeout().AsDuration())+", until "+p.moment(run.GetSince().AsTime().Add(run.GetTimeout().AsDuration())))
	}
	switch {
	case run.GetLastBeat() == nil:
		lines = append(lines, "its node is not known any more: the job is about to be taken back")
	case run.GetLost():
		lines = append(lines, "its node was last heard of "+p.moment(run.GetLastBeat().AsTime())+" and has lost its lease: the job is about to be taken back")
	default:
		lines = append(lines, "its node was last heard of "+p.moment(run.GetLastBeat().AsTime()))
	}
	if run.GetCrashes() > 0 {
		lines = append(lines, fmt.Sprintf("nodes that have died while it ran, since it last reported progress: %d", run.GetCrashes()))
	}
	if run.GetStopping() {
		lines = append(lines, "it was asked to stop")
	}
	return "  - " + strings.Join(lines, "\n  - ") + "\n"
}
