package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
)

// Alerts implements the AlertService.
type Alerts struct {
	client *alert.Client
	args   ArgsChecks

	// restore replaces the masks in an alert by the stored values; nil = nothing is masked.
	restore func(ctx context.Context, rule *alert.Rule) error
}

// NewAlerts returns an AlertService backed by store.
func NewAlerts(store Store) *Alerts { return &Alerts{client: alert.NewClient(store)} }

func ruleOf(in *fairleadv1.AlertRule) alert.Rule {
	out := alert.Rule{
		Name: in.GetName(), Scope: alert.Scope(in.GetScope()), URL: in.GetUrl(),
		Backlog: in.GetBacklog().AsDuration(), Gather: in.GetGather().AsDuration(), Quiet: in.GetQuiet().AsDuration(),
		Headers: in.GetHeaders(), Body: in.GetBody(), SigningSecret: in.GetSigningSecret(),
	}
	for _, event := range in.GetOn() {
		out.On = append(out.On, alert.Event(event))
	}
	return out
}

func ruleTo(r alert.Rule) *fairleadv1.AlertRule {
	out := &fairleadv1.AlertRule{
		Name: r.Name, Scope: string(r.Scope), Url: r.URL,
		Backlog: message.Duration(r.Backlog), Gather: message.Duration(r.Gather), Quiet: message.Duration(r.Quiet),
		Headers: r.Headers, Body: r.Body, SigningSecret: r.SigningSecret,
		CreatedAt: message.Time(r.CreatedAt), UpdatedAt: message.Time(r.UpdatedAt),
	}
	for _, event := range r.On {
		out.On = append(out.On, string(event))
	}
	return out
}

// SetAlert creates or replaces an alert. The server sets CreatedAt and UpdatedAt and ignores
// their values in the request, so a caller can send an alert back as it was read.
func (s *Alerts) SetAlert(ctx context.Context, in *fairleadv1.AlertRule) (*fairleadv1.AlertRule, error) {
	rule := ruleOf(in)
	if s.restore != nil {
		if err := s.restore(ctx, &rule); err != nil {
			return nil, err
		}
	}
	if err := alert.Normalize(&rule); err != nil {
		return nil, err
	}
	fields, err := s.args.refused(rule.SampleMessage(), "")
	if err != nil {
		return nil, err
	}
	if err := fairlead.Invalid(fields...); err != nil {
		return nil, err
	}
	stored, err := s.client.Set(ctx, rule)
	if err != nil {
		return nil, err
	}
	return ruleTo(stored), nil
}

// GetAlert returns an alert.
func (s *Alerts) GetAlert(ctx context.Context, in *fairleadv1.GetAlertRequest) (*fairleadv1.AlertRule, error) {
	rule, err := s.client.Get(ctx, in.GetName())
	if err != nil {
		return nil, err
	}
	return ruleTo(rule), nil
}

// ListAlerts returns all alerts, ordered by name.
func (s *Alerts) ListAlerts(ctx context.Context, _ *fairleadv1.ListAlertsRequest) (*fairleadv1.ListAlertsResponse, error) {
	rules, err := s.client.List(ctx)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListAlertsResponse{Items: items(rules, ruleTo)}, nil
}

// RemoveAlert removes an alert.
func (s *Alerts) RemoveAlert(ctx context.Context, in *fairleadv1.GetAlertRequest) (*fairleadv1.RemoveAlertResponse, error) {
	if err := s.client.Remove(ctx, in.GetName()); err != nil {
		return nil, err
	}
	return &fairleadv1.RemoveAlertResponse{}, nil
}
