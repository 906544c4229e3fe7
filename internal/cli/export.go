package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

const exportLong = `Export tenants, limits, calendars, schedules, sweeps and alerts as YAML for "fairlead apply". Applying the
file to another server creates them there. Sweeps do not run on that server until you start them.

The export does not include tokens, jobs, batches or the paused state of queues and kinds. Secrets are masked as "***":
fill them in before you apply the file to another server.`

// exportCommand returns the command that writes files for applyCommand.
func (s *session) exportCommand() *cobra.Command {
	cmd := verb("export", "Export tenants, limits, calendars, schedules, sweeps and alerts as YAML for apply", s.runs(func(ctx context.Context, c *call) error {
		lists := map[string][]json.RawMessage{}
		for name, exported := range map[string]func(context.Context) ([]json.RawMessage, error){
			"tenants": c.exportedTenants, "limits": c.exportedLimits, "calendars": c.exportedCalendars,
			"schedules": c.exportedSchedules, "sweeps": c.exportedSweeps, "alerts": c.exportedAlerts,
		} {
			entries, err := exported(ctx)
			if err != nil {
				return err
			}
			if len(entries) > 0 {
				lists[name] = entries
			}
		}
		if len(lists) == 0 {
			_, err := fmt.Fprintln(c.errors.Out, "nothing to export")
			return err
		}
		if c.format == "table" {
			c.format = "yaml" // a file is not a table
		}
		body, err := json.Marshal(lists)
		if err != nil {
			return err
		}
		return c.document(body)
	}))
	cmd.Long = exportLong
	cmd.Example = "  fairlead export > cluster.yaml\n  fairlead apply -f cluster.yaml --server https://other.example --dry-run"
	return s.prints(s.connects(cmd))
}

// asEntries converts objects to file entries.
func asEntries[T proto.Message](items []T, asFile func(T) T) ([]json.RawMessage, error) {
	entries := make([]json.RawMessage, len(items))
	for i, item := range items {
		body, err := wire.Marshal(asFile(item))
		if err != nil {
			return nil, err
		}
		entries[i] = body
	}
	return entries, nil
}

func (c *call) exportedTenants(ctx context.Context) ([]json.RawMessage, error) {
	all, err := c.allTenants(ctx)
	if err != nil {
		return nil, err
	}
	return asEntries(all, tenantAsFile)
}

// exportedLimits returns the limits as file entries. It omits those of tenants, which are
// part of the tenants' entries.
func (c *call) exportedLimits(ctx context.Context) ([]json.RawMessage, error) {
	all, err := c.limits.ListLimits(ctx, &fairleadv1.ListLimitsRequest{})
	if err != nil {
		return nil, err
	}
	var own []*fairleadv1.Limit
	for _, limit := range all.GetItems() {
		if !strings.HasPrefix(limit.GetScope(), "tenant:") {
			own = append(own, limit)
		}
	}
	return asEntries(own, limitAsFile)
}

func (c *call) exportedCalendars(ctx context.Context) ([]json.RawMessage, error) {
	all, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, err
	}
	return asEntries(all.GetItems(), calendarAsFile)
}

func (c *call) exportedSchedules(ctx context.Context) ([]json.RawMessage, error) {
	all, err := c.listSchedules(ctx, &fairleadv1.ListSchedulesRequest{}, 0)
	if err != nil {
		return nil, err
	}
	return asEntries(all.GetItems(), asFile)
}

func (c *call) exportedSweeps(ctx context.Context) ([]json.RawMessage, error) {
	all, err := c.allSweeps(ctx)
	if err != nil {
		return nil, err
	}
	return asEntries(all, sweepAsFile)
}

func (c *call) exportedAlerts(ctx context.Context) ([]json.RawMessage, error) {
	all, err := c.alerts.ListAlerts(ctx, &fairleadv1.ListAlertsRequest{})
	if err != nil {
		return nil, err
	}
	return asEntries(all.GetItems(), alertAsFile)
}
