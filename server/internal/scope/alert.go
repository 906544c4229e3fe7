package scope

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// seesAlert reports whether an alert applies only to tenants of the caller. An alert on a
// kind, a queue or all jobs also covers other tenants.
func seesAlert(ctx context.Context, scope alert.Scope) bool {
	who := caller.Of(ctx).Identity
	return !who.Restricted() || scope.Tenant() != "" && who.MayAccess(scope.Tenant())
}

// SetAlert creates or replaces an alert on a tenant of the caller.
func (s Restricted) SetAlert(ctx context.Context, rule alert.Rule) (alert.Rule, error) {
	if !seesAlert(ctx, rule.Scope) {
		if tenant := rule.Scope.Tenant(); tenant != "" {
			return alert.Rule{}, caller.ErrTenant(tenant)
		}
		return alert.Rule{}, caller.ErrForbidden
	}
	if err := nameable(ctx, "alert", rule.Name); err != nil {
		return alert.Rule{}, err
	}
	if err := s.RestoreAlert(ctx, &rule); err != nil {
		return alert.Rule{}, err
	}
	stored, err := s.store.SetAlert(ctx, rule)
	return stored, unnamed(ctx, "alert", rule.Name, err, func() (bool, error) { return s.hasAlert(ctx, rule.Name) })
}

// SetAlertSeen is intended for programs that declare alerts; no API method calls it.
func (s Restricted) SetAlertSeen(ctx context.Context, rule, seen alert.Rule) (alert.Rule, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return alert.Rule{}, err
	}
	return s.store.SetAlertSeen(ctx, rule, seen)
}

// RestoreAlert replaces the masks in an alert by the stored values, if the alert still goes
// to the same host.
func (s Restricted) RestoreAlert(ctx context.Context, rule *alert.Rule) error {
	document, err := AlertDocument(rule.URL, rule.Headers, rule.Body)
	if err != nil || !MayBeMasked(document) {
		return err
	}
	rules, err := s.Alerts(ctx)
	if err != nil {
		return err
	}
	var stored json.RawMessage
	for _, known := range rules {
		if known.Name == rule.Name {
			if stored, err = AlertDocument(known.URL, known.Headers, known.Body); err != nil {
				return err
			}
		}
	}
	if err := s.restore(ctx, "", httpcall.Kind, &document, stored); err != nil {
		return err
	}
	return json.Unmarshal(document, &alertArgs{&rule.URL, &rule.Headers, &rule.Body})
}

// hasAlert reports whether the caller sees an alert with the given name.
func (s Restricted) hasAlert(ctx context.Context, name string) (bool, error) {
	rules, err := s.Alerts(ctx)
	return slices.ContainsFunc(rules, func(rule alert.Rule) bool { return rule.Name == name }), err
}

// RemoveAlert deletes an alert of the caller. It returns ErrNotFound for an alert of
// another tenant.
func (s Restricted) RemoveAlert(ctx context.Context, name string) error {
	seen, err := s.hasAlert(ctx, name)
	if err != nil {
		return err
	}
	if !seen {
		return alert.NoSuchRule(name)
	}
	return s.store.RemoveAlert(ctx, name)
}

// Alerts returns the alerts of the caller.
func (s Restricted) Alerts(ctx context.Context) ([]alert.Rule, error) {
	rules, err := s.store.Alerts(ctx)
	return slices.DeleteFunc(rules, func(rule alert.Rule) bool { return !seesAlert(ctx, rule.Scope) }), err
}

// TakeLook gives one caller at a time the right to check for new events. Like the methods
// below, it is only for nodes and other callers that are not bound to tenants.
func (s Restricted) TakeLook(ctx context.Context, every time.Duration) (alert.Turn, bool, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return alert.Turn{}, false, err
	}
	return s.store.TakeLook(ctx, every)
}

// AlertCounts counts the events in a period.
func (s Restricted) AlertCounts(ctx context.Context, from, to time.Time) ([]alert.Count, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.AlertCounts(ctx, from, to)
}

// EndLook stores the results of a check.
func (s Restricted) EndLook(ctx context.Context, found alert.Found) (bool, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return false, err
	}
	return s.store.EndLook(ctx, found)
}
