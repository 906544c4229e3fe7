package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// bulkTimeout is longer than the timeout of other calls: there may be a million jobs, and a
// timeout would leave the work half done.
const bulkTimeout = time.Hour

func (s *session) jobBulkCommand() *cobra.Command {
	var filter jobFilter
	var ids []int64
	var reason string
	var dryRun, yes bool
	cmd := verb("bulk ACTION", "Apply an action to all matching jobs: "+strings.Join(bulkAtOnce, ", "), nil)
	cmd.Long = cmd.Short + ".\n\nOn a terminal, cancel and delete ask for confirmation; without a terminal they require --yes."
	cmd.Example = "  fairlead job bulk retry --state failed --kind report --from 2h\n" +
		"  fairlead job bulk delete --state succeeded --to 30d --dry-run"
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if !cmd.Flags().Changed("timeout") {
			s.timeout = bulkTimeout
		}
	}
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		action := c.args[0]
		if !slices.Contains(bulkAtOnce, action) {
			return Usagef("unknown action %q: use %s", action, strings.Join(bulkAtOnce, ", "))
		}
		request := &fairleadv1.BulkJobsRequest{Action: action, DryRun: dryRun, Reason: reason, Filter: filter.chosen(ids)}
		if !dryRun && !yes && irrevocable(action) {
			err := c.askBulk(action, func() (counted, error) {
				return c.jobs.BulkJobs(ctx, &fairleadv1.BulkJobsRequest{Action: action, DryRun: true, Filter: request.GetFilter()})
			})
			if err != nil {
				return err
			}
		}
		answer, err := c.jobs.BulkJobs(ctx, request)
		if err != nil {
			return err
		}
		if dryRun {
			return c.say(answer, "%s would affect %s", action, matched(answer))
		}
		text := fmt.Sprintf("%s: applied to %s", action, jobCount(answer.GetDone()))
		if missed := answer.GetMissed(); missed > 0 {
			text += fmt.Sprintf("; %d no longer matched", missed)
		}
		return c.say(answer, "%s", text)
	})
	s.filters(cmd, &filter)
	cmd.Flags().Int64SliceVar(&ids, "id", nil, "only the job with this ID (repeatable)")
	cmd.Flags().StringVar(&reason, "reason", "", "reason for cancelling, recorded with the jobs (only for the action cancel; default: none)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "count the matching jobs without changing them")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	cmd.ValidArgsFunction = first(oneOf(bulkAtOnce...))
	return cmd
}

// irrevocable reports whether an action cannot be undone.
func irrevocable(action string) bool { return action == "cancel" || action == "delete" }

// chosen returns the filter as a message with job IDs.
func (f *jobFilter) chosen(ids []int64) *fairleadv1.JobFilter {
	return &fairleadv1.JobFilter{
		State: f.states, Kind: f.kinds, Queue: f.queues, Tenant: f.tenants, Key: f.key, Id: ids,
		From: f.from.proto(), To: f.to.proto(), FinishedFrom: f.finished.proto(),
	}
}

func jobCount(n int64) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}

// counted is a response with the number of matching jobs.
type counted interface {
	GetMatched() int64
	GetMore() bool
}

// matched returns the number of matching jobs as text.
func matched(answer counted) string {
	if answer.GetMore() {
		return fmt.Sprintf("at least %d jobs", answer.GetMatched())
	}
	return jobCount(answer.GetMatched())
}

// askBulk counts the jobs and asks for confirmation.
func (c *call) askBulk(action string, count func() (counted, error)) error {
	if !screen.IsTerminal(c.in) || !c.errors.Terminal {
		return Usagef("cannot ask for confirmation without a terminal: add --yes to %s the jobs, or --dry-run to count them", action)
	}
	jobs, err := count()
	if err != nil {
		return err
	}
	return c.confirm(fmt.Sprintf("%s %s?", action, matched(jobs)))
}

// confirm asks a question and returns an error unless the user answers yes.
func (c *call) confirm(question string) error {
	fmt.Fprint(c.errors.Out, question+" [y/N] ")
	answer, err := bufio.NewReader(c.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		fmt.Fprintln(c.errors.Out)
	}
	return failf(ExitFailure, "aborted; nothing was changed")
}
