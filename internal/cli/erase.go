package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// listedLeft is the maximum number of jobs in the report of an erasure.
const listedLeft = 100

func (s *session) eraseCommand() *cobra.Command {
	request := &fairleadv1.EraseRequest{}
	var yes bool
	cmd := verb("erase", "Erase the finished jobs of a tenant or key, and report what remains", nil)
	cmd.Long = cmd.Short + ".\n\nErasure cannot be undone. On a terminal the command asks for confirmation; without a terminal it requires --yes. An interrupted erasure can be run again."
	cmd.Example = "  fairlead erase --tenant acme --dry-run\n  fairlead erase --tenant acme --key customer-7 --yes"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		if request.GetTenant() == "" && request.GetKey() == "" {
			return Usagef("specify the jobs to erase with --tenant, --key or both")
		}
		if !request.GetDryRun() && !yes {
			if err := c.askErase(ctx, request); err != nil {
				return err
			}
		}
		report, err := c.erase(ctx, request)
		if err != nil {
			return err
		}
		return c.printTable(report, erased(c.Screen, report, request.GetDryRun()))
	})
	cmd.Flags().StringVar(&request.Tenant, "tenant", "", "only jobs of this tenant (default with --key: all tenants)")
	cmd.Flags().StringVar(&request.Key, "key", "", "only jobs with this key")
	cmd.Flags().BoolVar(&request.DryRun, "dry-run", false, "count the jobs without erasing them")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	complete(cmd, "tenant", s.asked(tenantNames))
	return s.prints(s.connects(cmd))
}

// erase repeats the call until nothing is left to erase, and adds up the reports. The
// timeout applies to each call.
func (c *call) erase(ctx context.Context, request *fairleadv1.EraseRequest) (*fairleadv1.EraseResponse, error) {
	report, kinds := &fairleadv1.EraseResponse{Tenant: request.GetTenant()}, map[string]*fairleadv1.ErasedKind{}
	for token, first := "", true; first || token != ""; first = false {
		request.PageToken = token
		part, err := c.system.Erase(ctx, request)
		if err != nil {
			return nil, err
		}
		report.Jobs, report.Attempts = report.GetJobs()+part.GetJobs(), report.GetAttempts()+part.GetAttempts()
		report.Batches, report.Notices = report.GetBatches()+part.GetBatches(), report.GetNotices()+part.GetNotices()
		report.Bulks += part.GetBulks()
		for _, kind := range part.GetKinds() {
			if kinds[kind.GetKind()] == nil {
				kinds[kind.GetKind()] = &fairleadv1.ErasedKind{Kind: kind.GetKind()}
				report.Kinds = append(report.Kinds, kinds[kind.GetKind()])
			}
			kinds[kind.GetKind()].Jobs += kind.GetJobs()
		}
		report.Left = append(report.Left, part.GetLeft()...)
		report.Left = report.Left[:min(len(report.Left), listedLeft)]
		report.Remains, token = part.GetRemains(), part.GetNextPageToken()
	}
	request.PageToken = ""
	return report, nil
}

// askErase counts the jobs and asks for confirmation.
func (c *call) askErase(ctx context.Context, request *fairleadv1.EraseRequest) error {
	if !screen.IsTerminal(c.in) || !c.errors.Terminal {
		return Usagef("cannot ask for confirmation without a terminal: add --yes to erase the jobs, or --dry-run to count them")
	}
	request.DryRun = true
	report, err := c.erase(ctx, request)
	if err != nil {
		return err
	}
	request.DryRun = false
	return c.confirm(fmt.Sprintf("permanently remove %s and %d batches?", jobCount(report.GetJobs()), report.GetBatches()))
}

// erased returns the report of an erasure as a table.
func erased(on *screen.Screen, report *fairleadv1.EraseResponse, dryRun bool) *screen.Table {
	done := "removed"
	if dryRun {
		done = "to be removed"
	}
	table := on.Table("ITEM", "COUNT", "RESULT")
	table.Add("jobs", report.GetJobs(), done)
	for _, kind := range report.GetKinds() {
		table.Add("  of kind "+kind.GetKind(), kind.GetJobs(), done)
	}
	table.Add("attempts", report.GetAttempts(), done)
	table.Add("batches", report.GetBatches(), done)
	table.Add("notices", report.GetNotices(), done)
	table.Add("bulks", report.GetBulks(), done)
	for _, left := range report.GetLeft() {
		table.Add(fmt.Sprintf("job %d", left.GetId()), left.GetState(), "kept: "+left.GetWhy())
	}
	for _, remains := range report.GetRemains() {
		count := ""
		if remains.Count != nil {
			count = fmt.Sprint(remains.GetCount())
		}
		table.Add(remains.GetWhat(), count, "kept: "+strings.TrimSpace(remains.GetUntil()))
	}
	return table
}
