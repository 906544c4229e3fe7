package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// sweepStates lists the states of sweeps.
var sweepStates = []string{"created", "waiting", "running", "stopping", "stopped", "finished"}

func (s *session) sweepCommand() *cobra.Command {
	cmd := noun("sweep", "Manage sweeps, which process large sets of items at a controlled rate",
		s.sweepCreateCommand(), s.sweepGetCommand(), s.sweepListCommand(), s.sweepExplainCommand(), s.sweepSetCommand(), s.sweepDeleteCommand(),
		s.sweepStartCommand(), s.sweepStopCommand(), s.sweepRetryCommand(), s.sweepOpenCommand(), s.sweepWatchCommand(),
		s.sweepLogsCommand(), s.sweepFailedCommand(), s.sweepHistoryCommand(), s.sweepShardsCommand(),
	)
	s.completeFirst(cmd, sweepNames, "create", "list")
	return s.prints(s.connects(cmd))
}

func sweepNames(ctx context.Context, c *call) ([]string, error) {
	page, err := c.sweeps.ListSweeps(ctx, &fairleadv1.ListSweepsRequest{PageSize: 1000})
	return namesOf(page.GetItems()), err
}

// onSweep returns the function of a command whose first argument is the ID or name of a
// sweep.
func (s *session) onSweep(do func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error) func(*cobra.Command, []string) error {
	return s.runs(func(ctx context.Context, c *call) error {
		return do(ctx, c, &fairleadv1.GetSweepRequest{Id: c.args[0]})
	})
}

func (s *session) sweepGetCommand() *cobra.Command {
	return verb("get NAME", "Show a sweep", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		return c.printDetails(c.sweeps.GetSweep(ctx, about))
	}))
}

func (s *session) sweepListCommand() *cobra.Command {
	filter := &fairleadv1.ListSweepsRequest{}
	var limit int
	cmd := verb("list", "List sweeps, newest first", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListSweepsResponse, error) {
			filter.PageSize, filter.PageToken = size, token
			return c.sweeps.ListSweeps(ctx, filter)
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("ID", "STATE", "NAME", "KIND", "TENANT", "DONE", "ITEMS", "FAILED", "RATE", "ETA", "NOTE")
		for _, sweep := range items {
			p := sweep.GetProgress()
			table.Add(sweep.GetId(), screen.State(sweep.GetState()), sweep.GetName(), sweep.GetKind(), sweep.GetTenant(),
				p.GetDone(), p.GetTotal(), p.GetAbandoned(), perSecond(p.GetRate()), p.GetEta(), sweepNote(sweep))
		}
		return c.printTable(&fairleadv1.ListSweepsResponse{Items: items, NextPageToken: next}, table)
	}))
	f := cmd.Flags()
	f.StringSliceVar(&filter.State, "state", nil, "only sweeps in this state (repeatable): "+strings.Join(sweepStates, ", "))
	f.StringSliceVar(&filter.Tenant, "tenant", nil, "only sweeps of this tenant (repeatable)")
	complete(cmd, "state", oneOf(sweepStates...))
	complete(cmd, "tenant", s.asked(tenantNames))
	limits(cmd, &limit)
	return cmd
}

// sweepNote returns the reason for a sweep's state, or its warning.
func sweepNote(sweep *fairleadv1.Sweep) string {
	if sweep.GetReason() != "" {
		return sweep.GetReason()
	}
	return sweep.GetWarning()
}

// perSecond returns a rate as text, or "" if there is none.
func perSecond(rate float64) string {
	if rate <= 0 {
		return ""
	}
	return fmt.Sprintf("%.4g/s", rate)
}

func (s *session) sweepDeleteCommand() *cobra.Command {
	return verb("delete NAME", "Delete a sweep with its logs and history; running sweeps cannot be deleted", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		gone, err := c.sweeps.DeleteSweep(ctx, about)
		if err != nil {
			return err
		}
		return c.say(gone, "sweep %s deleted", about.GetId())
	}))
}
