package cli

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func (s *session) alertCommand() *cobra.Command {
	cmd := noun("alert", "Manage alerts for failed, late or waiting jobs",
		s.alertSetCommand(), s.alertGetCommand(), s.alertListCommand(), s.alertRemoveCommand())
	s.completeFirst(cmd, alertNames, "list")
	return s.prints(s.connects(cmd))
}

// alertFlags holds the flags of an alert.
type alertFlags struct {
	rule                   fairleadv1.AlertRule
	backlog, gather, quiet time.Duration
	headers                []string
	body                   string
}

func (t *alertFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.rule.Scope, "scope", "global", "jobs to watch: global, kind:NAME, queue:NAME or tenant:NAME")
	f.StringVar(&t.rule.Url, "url", "", "URL to send messages to (required)")
	f.StringSliceVar(&t.rule.On, "on", nil, "event that triggers the alert: failed, missed or backlog (repeatable; default failed)")
	f.DurationVar(&t.backlog, "backlog", 0, "waiting time at which the oldest ready job triggers a backlog alert (required with --on backlog)")
	f.DurationVar(&t.gather, "gather", 0, "period over which failures are combined into one message (default 10s)")
	f.DurationVar(&t.quiet, "quiet", 0, "minimum time between two messages about the same event (default 1m)")
	f.StringArrayVar(&t.headers, "header", nil, "HTTP header to send with each message, as NAME=VALUE; the value may contain placeholders (repeatable; default: none)")
	f.StringVar(&t.body, "body", "", "message body template, in JSON or plain text (default: a JSON document)")
	f.StringVar(&t.rule.SigningSecret, "signing-secret", "", "reference to the secret used to sign messages, such as ${env:NAME} (default: messages are not signed)")
	complete(cmd, "on", oneOf("failed", "missed", "backlog"))
}

// wanted returns the alert with the given name that the flags describe.
func (t *alertFlags) wanted(name string) (*fairleadv1.AlertRule, error) {
	t.rule.Name = name
	for to, value := range map[**durationpb.Duration]time.Duration{&t.rule.Backlog: t.backlog, &t.rule.Gather: t.gather, &t.rule.Quiet: t.quiet} {
		if value != 0 {
			*to = durationpb.New(value)
		}
	}
	for _, text := range t.headers {
		header, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, Usagef("--header %q: use NAME=VALUE", text)
		}
		if t.rule.Headers == nil {
			t.rule.Headers = map[string]string{}
		}
		t.rule.Headers[header] = value
	}
	switch {
	case t.body == "":
	case json.Valid([]byte(t.body)):
		t.rule.Body = []byte(t.body)
	default:
		t.rule.Body, _ = json.Marshal(t.body) // a string always encodes
	}
	return &t.rule, nil
}

func (s *session) alertSetCommand() *cobra.Command {
	flags := &alertFlags{}
	cmd := verb("set NAME", "Create or replace an alert", nil)
	cmd.Long = cmd.Short + ".\n\nSetting an existing alert replaces all of its settings: omitted flags get their defaults. The scope of an alert cannot be changed."
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		if flags.rule.GetUrl() == "" {
			return Usagef("--url is required: the URL to send messages to")
		}
		wanted, err := flags.wanted(c.args[0])
		if err != nil {
			return err
		}
		return c.printDetails(c.alerts.SetAlert(ctx, wanted))
	})
	flags.register(cmd)
	return cmd
}

func (s *session) alertGetCommand() *cobra.Command {
	return verb("get NAME", "Show an alert", s.runs(func(ctx context.Context, c *call) error {
		return c.printDetails(c.alerts.GetAlert(ctx, &fairleadv1.GetAlertRequest{Name: c.args[0]}))
	}))
}

func (s *session) alertListCommand() *cobra.Command {
	return verb("list", "List alerts", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.alerts.ListAlerts(ctx, &fairleadv1.ListAlertsRequest{})
		if err != nil {
			return err
		}
		table := c.Table("NAME", "SCOPE", "ON", "BACKLOG", "QUIET", "URL")
		for _, a := range all.GetItems() {
			backlog := ""
			if a.GetBacklog() != nil {
				backlog = a.GetBacklog().AsDuration().String()
			}
			table.Add(a.GetName(), a.GetScope(), strings.Join(a.GetOn(), ","), backlog, a.GetQuiet().AsDuration().String(), a.GetUrl())
		}
		return c.printTable(all, table)
	}))
}

func (s *session) alertRemoveCommand() *cobra.Command {
	return verb("remove NAME", "Remove an alert", s.runs(func(ctx context.Context, c *call) error {
		answer, err := c.alerts.RemoveAlert(ctx, &fairleadv1.GetAlertRequest{Name: c.args[0]})
		if err != nil {
			return err
		}
		return c.say(answer, "alert %s removed", c.args[0])
	}))
}
