package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) jobCountCommand() *cobra.Command {
	var filter jobFilter
	var maker jobMaker
	var atMost int32
	cmd := verb("count", "Count jobs by state", s.runs(func(ctx context.Context, c *call) error {
		schedule, err := c.scheduleID(ctx, maker.schedule)
		if err != nil {
			return err
		}
		count, err := c.jobs.CountJobs(ctx, &fairleadv1.CountJobsRequest{
			State: filter.states, Kind: filter.kinds, Queue: filter.queues, Tenant: filter.tenants, Key: filter.key,
			From: filter.from.proto(), To: filter.to.proto(), FinishedFrom: filter.finished.proto(),
			Schedule: schedule, Batch: maker.batch, AtMost: atMost,
		})
		if err != nil {
			return err
		}
		if count.GetMore() && c.format == "table" {
			fmt.Fprintln(c.errors.Out, "counting stopped early; there may be more jobs")
		}
		table := c.Table("STATE", "JOBS")
		for _, state := range count.GetStates() {
			table.Add(screen.State(state.GetState()), state.GetCount())
		}
		table.Add("total", count.GetTotal())
		return c.printTable(count, table)
	}))
	cmd.Long = cmd.Short + ". Counting stops at about --at-most jobs; the output then notes that there may be more."
	cmd.Example = "  fairlead job count --state failed --finished-from 24h\n" +
		"  fairlead job count --batch 7"
	s.filters(cmd, &filter)
	s.makers(cmd, &maker)
	cmd.Flags().Int32Var(&atMost, "at-most", 0, "approximate number of jobs at which to stop counting (default 10000, the maximum)")
	return cmd
}
