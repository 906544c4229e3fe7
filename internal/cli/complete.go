package cli

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// completeWithin is the time limit for a completion after the user presses the tab key.
const completeWithin = time.Second

var (
	states     = []string{"scheduled", "parked", "ready", "running", "waiting", "succeeded", "failed", "cancelled", "skipped"}
	roles      = []string{"viewer", "submitter", "operator", "admin", "worker"}
	keyScopes  = []string{"live", "forever"}
	bulkAtOnce = []string{"cancel", "retry", "run", "delete"}
)

// complete registers the completions of a command's flag.
func complete(cmd *cobra.Command, flag string, names cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, names); err != nil {
		panic(err) // the flag does not exist or already has completions
	}
}

func oneOf(names ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)
}

// first returns a function that completes only the first argument.
func first(names cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd, args, start)
	}
}

// completeFirst completes the first argument of all commands of a noun, with some
// exceptions.
func (s *session) completeFirst(noun *cobra.Command, list func(ctx context.Context, c *call) ([]string, error), but ...string) {
	for _, verb := range noun.Commands() {
		if !slices.Contains(but, verb.Name()) {
			verb.ValidArgsFunction = first(s.asked(list))
		}
	}
}

// asked returns completions from the server. If the server does not respond in time, there
// are none.
func (s *session) asked(list func(ctx context.Context, c *call) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cmd.SetErr(io.Discard)
		c, err := s.open(cmd, args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
		defer cancel()
		names, err := list(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func (s *session) contextNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	known, err := readContexts(io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(known.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

// namesOf returns the names of items listed by a server.
func namesOf[T interface{ GetName() string }](items []T) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.GetName()
	}
	return names
}

func tenantNames(ctx context.Context, c *call) ([]string, error) {
	page, err := c.tenants.ListTenants(ctx, &fairleadv1.ListTenantsRequest{PageSize: 1000})
	return namesOf(page.GetItems()), err
}

func scheduleNames(ctx context.Context, c *call) ([]string, error) {
	page, err := c.schedules.ListSchedules(ctx, &fairleadv1.ListSchedulesRequest{PageSize: 1000})
	return namesOf(page.GetItems()), err
}

func calendarNames(ctx context.Context, c *call) ([]string, error) {
	all, err := c.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	return namesOf(all.GetItems()), err
}

func alertNames(ctx context.Context, c *call) ([]string, error) {
	all, err := c.alerts.ListAlerts(ctx, &fairleadv1.ListAlertsRequest{})
	return namesOf(all.GetItems()), err
}

func queueNames(ctx context.Context, c *call) ([]string, error) {
	all, err := c.queues.ListQueues(ctx, &fairleadv1.ListQueuesRequest{})
	return namesOf(all.GetItems()), err
}

func nodeNames(ctx context.Context, c *call) ([]string, error) {
	all, err := c.nodes.ListNodes(ctx, &fairleadv1.ListNodesRequest{})
	var names []string
	for _, node := range all.GetItems() {
		names = append(names, cobra.CompletionWithDesc(strconv.FormatInt(node.GetId(), 10), node.GetName()))
	}
	return names, err
}

// kindNames returns the kinds that nodes handle.
func kindNames(ctx context.Context, c *call) ([]string, error) {
	all, err := c.nodes.ListNodes(ctx, &fairleadv1.ListNodesRequest{})
	var names []string
	for _, node := range all.GetItems() {
		names = append(names, node.GetKinds()...)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func limitScopes(ctx context.Context, c *call) ([]string, error) {
	all, err := c.limits.ListLimits(ctx, &fairleadv1.ListLimitsRequest{})
	var names []string
	for _, limit := range all.GetItems() {
		names = append(names, limit.GetScope())
	}
	return names, err
}

func tokenIDs(ctx context.Context, c *call) ([]string, error) {
	all, err := c.tokens.ListTokens(ctx, &fairleadv1.ListTokensRequest{})
	var names []string
	for _, token := range all.GetItems() {
		names = append(names, cobra.CompletionWithDesc(strconv.FormatInt(token.GetId(), 10), token.GetName()))
	}
	return names, err
}
