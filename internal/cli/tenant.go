package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) tenantCommand() *cobra.Command {
	cmd := noun("tenant", "Manage tenants and their limits",
		s.tenantCreateCommand(), s.tenantGetCommand(), s.tenantListCommand(), s.tenantUpdateCommand(), s.tenantDeleteCommand(),
		s.tenantPauseCommand(), s.tenantResumeCommand(), s.tenantStatsCommand(),
	)
	s.completeFirst(cmd, tenantNames, "create", "list")
	return s.prints(s.connects(cmd))
}

// tenantFlags holds the flags of a tenant.
type tenantFlags struct {
	tenant fairleadv1.Tenant
	labels map[string]string
}

func (t *tenantFlags) register(cmd *cobra.Command, s *session) {
	f := cmd.Flags()
	f.StringVar(&t.tenant.Parent, "parent", "", "parent tenant, whose cap and rate also apply (default: none)")
	f.Int32Var(&t.tenant.MaxRunning, "max-running", 0, "maximum number of jobs that run or wait for a result at the same time (0 = unlimited)")
	f.Int32Var(&t.tenant.MinRunning, "min-running", 0, "number of running jobs guaranteed while the tenant has ready jobs (0 = no guarantee)")
	f.Int32Var(&t.tenant.Weight, "weight", 0, "relative share of job starts in fair order (default 1)")
	f.Float64Var(&t.tenant.Rate, "rate", 0, "maximum number of jobs started per second (0 = unlimited)")
	f.Int32Var(&t.tenant.Burst, "burst", 0, "number of jobs that can start at once after an idle period (0 = a tenth of --rate, at least 1)")
	f.Int32Var(&t.tenant.MaxPending, "max-pending", 0, "maximum number of scheduled, ready and parked jobs (0 = unlimited)")
	f.BoolVar(&t.tenant.Paused, "paused", false, "pause the tenant so that none of its jobs start")
	f.StringToStringVar(&t.labels, "label", nil, "label of the tenant, as NAME=VALUE (repeatable; NAME= removes the label; default: no labels)")
	f.StringVar(&t.tenant.StartUrl, "start-url", "", "URL that runs jobs of kind external (default: none)")
	f.StringVar(&t.tenant.FailUrl, "fail-url", "", "URL to notify when a job fails permanently (default: none)")
	f.StringVar(&t.tenant.TimeoutUrl, "timeout-url", "", "URL to notify when a job times out (default: none)")
	complete(cmd, "parent", s.asked(tenantNames))
}

// apply sets the fields of a tenant whose flags were given.
func (t *tenantFlags) apply(cmd *cobra.Command, to *fairleadv1.Tenant) {
	from, into := t.tenant.ProtoReflect(), to.ProtoReflect()
	for i := range from.Descriptor().Fields().Len() {
		f := from.Descriptor().Fields().Get(i)
		if flag := strings.ReplaceAll(string(f.Name()), "_", "-"); cmd.Flags().Lookup(flag) != nil && cmd.Flags().Changed(flag) {
			into.Set(f, from.Get(f))
		}
	}
	for name, value := range t.labels {
		if to.Labels == nil {
			to.Labels = map[string]string{}
		}
		if to.Labels[name] = value; value == "" {
			delete(to.Labels, name)
		}
	}
}

func (s *session) tenantCreateCommand() *cobra.Command {
	var flags tenantFlags
	cmd := verb("create NAME", "Create a tenant", nil)
	ask := asksWhatIf(cmd)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		wanted := &fairleadv1.Tenant{Name: c.args[0]}
		flags.apply(cmd, wanted)
		if *ask {
			if _, err := c.tenants.GetTenant(ctx, &fairleadv1.GetTenantRequest{Name: wanted.GetName()}); err == nil {
				return Usagef("tenant %q already exists: use fairlead tenant update --what-if", wanted.GetName())
			}
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{Tenant: wanted})
		}
		return c.printDetails(c.tenants.CreateTenant(ctx, wanted))
	})
	flags.register(cmd, s)
	return cmd
}

func (s *session) tenantUpdateCommand() *cobra.Command {
	var flags tenantFlags
	cmd := verb("update NAME", "Change the given fields of a tenant", nil)
	ask := asksWhatIf(cmd)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		tenant, err := c.tenants.GetTenant(ctx, &fairleadv1.GetTenantRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		flags.apply(cmd, tenant)
		if *ask {
			return c.whatIf(ctx, &fairleadv1.WhatIfChange{Tenant: tenant})
		}
		return c.printDetails(c.tenants.UpdateTenant(ctx, tenant)) // includes the version that was read
	})
	flags.register(cmd, s)
	return cmd
}

func (s *session) tenantGetCommand() *cobra.Command {
	return verb("get NAME", "Show the settings of a tenant", s.runs(func(ctx context.Context, c *call) error {
		return c.printDetails(c.tenants.GetTenant(ctx, &fairleadv1.GetTenantRequest{Name: c.args[0]}))
	}))
}

func (s *session) tenantListCommand() *cobra.Command {
	var limit int
	cmd := verb("list", "List tenants", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListTenantsResponse, error) {
			return c.tenants.ListTenants(ctx, &fairleadv1.ListTenantsRequest{PageSize: size, PageToken: token})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("NAME", "PARENT", "MAX RUNNING", "MIN RUNNING", "RATE", "MAX PENDING", "PAUSED", "LABELS")
		for _, t := range items {
			table.Add(t.GetName(), t.GetParent(), screen.Limit(t.GetMaxRunning()), screen.Limit(t.GetMinRunning()), screen.Limit(t.GetRate()),
				screen.Limit(t.GetMaxPending()), t.GetPaused(), labelText(t.GetLabels()))
		}
		return c.printTable(&fairleadv1.ListTenantsResponse{Items: items, NextPageToken: next}, table)
	}))
	limits(cmd, &limit)
	return cmd
}

func labelText(labels map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		texts = append(texts, name+"="+labels[name])
	}
	return strings.Join(texts, ",")
}

func (s *session) tenantDeleteCommand() *cobra.Command {
	var force bool
	cmd := verb("delete NAME", "Delete a tenant that has no unfinished jobs", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.tenants.DeleteTenant(ctx, &fairleadv1.DeleteTenantRequest{Name: c.args[0], Force: force})
		if err != nil {
			return err
		}
		if n := answer.GetCancelledJobs(); n > 0 {
			return c.say(answer, "tenant %s deleted; cancelled jobs: %d", c.args[0], n)
		}
		return c.say(answer, "tenant %s deleted", c.args[0])
	}))
	cmd.Flags().BoolVar(&force, "force", false, "cancel the unfinished jobs of the tenant")
	return cmd
}

func (s *session) tenantPauseCommand() *cobra.Command {
	var reason string
	cmd := verb("pause NAME", "Pause a tenant; its running jobs continue", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.tenants.PauseTenant(ctx, &fairleadv1.PauseTenantRequest{Name: c.args[0], Reason: reason})
		if err != nil {
			return err
		}
		return c.say(answer, "tenant %s paused", c.args[0])
	}))
	pauseReason(cmd, &reason)
	return cmd
}

func (s *session) tenantResumeCommand() *cobra.Command {
	return verb("resume NAME", "Resume a paused tenant", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.tenants.ResumeTenant(ctx, &fairleadv1.GetTenantRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "tenant %s resumed", c.args[0])
	}))
}

func (s *session) tenantStatsCommand() *cobra.Command {
	return verb("stats NAME", "Show job counts and rates of a tenant", s.runs(func(ctx context.Context, c *call) error {
		usage, err := c.tenants.GetTenantStats(ctx, &fairleadv1.GetTenantRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.printTable(usage, usageTable(c.Screen, usage))
	}))
}

// usageTable returns a table with the usage of tenants or of the whole cluster.
func usageTable(s *screen.Screen, usages ...*fairleadv1.Usage) *screen.Table {
	table := s.Table("TENANT", "SCHEDULED", "PARKED", "READY", "RUNNING", "WAITING", "MAX RUNNING", "STARTS/S", "MISSED", "OLDEST WAIT")
	for _, u := range usages {
		name := screen.Cell{Text: u.GetTenant()}
		if name.Text == "" {
			name = screen.Cell{Text: "(all)", Tone: screen.Head}
		}
		table.Add(name, u.GetScheduled(), u.GetParked(), u.GetReady(), u.GetRunning(), u.GetWaiting(), screen.Limit(u.GetMaxRunning()),
			screen.Rate(u.GetStarted()), u.GetMissed(), u.GetOldestWait())
	}
	return table
}
