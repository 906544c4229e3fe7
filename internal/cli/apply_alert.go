package cli

import (
	"context"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// alertDefaults are the server's defaults for alert fields.
var alertDefaults = map[string]string{"scope": "global", "on": "failed", "gather": "10s", "quiet": "1m0s"}

// alertChange is the change of an alert to match a file.
type alertChange struct {
	isNew  bool
	wanted *fairleadv1.AlertRule
	differences
}

func (change *alertChange) text() string {
	return change.describe(change.isNew, "alert "+change.wanted.GetName())
}

// asked returns nil, because an alert reports events and does not influence them.
func (change *alertChange) asked() *fairleadv1.WhatIfChange { return nil }

// make sets one alert.
func (change *alertChange) make(ctx context.Context, c *call) error {
	_, err := c.alerts.SetAlert(ctx, change.wanted)
	return err
}

// alertAsFile returns an alert without the fields that the server sets.
func alertAsFile(alert *fairleadv1.AlertRule) *fairleadv1.AlertRule {
	out := proto.CloneOf(alert)
	out.CreatedAt, out.UpdatedAt = nil, nil
	return out
}

// alertChanges compares the alerts of a file with the existing ones.
func (c *call) alertChanges(ctx context.Context, wanted []*fairleadv1.AlertRule) (changes []change, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	there, err := c.alerts.ListAlerts(ctx, &fairleadv1.ListAlertsRequest{})
	if err != nil {
		return nil, err
	}
	known := byName(there.GetItems())
	for _, w := range wanted {
		current := known[w.GetName()]
		change := &alertChange{isNew: current == nil, wanted: alertAsFile(w), differences: differences{defaults: alertDefaults}}
		before := &fairleadv1.AlertRule{}
		if current != nil {
			before = alertAsFile(current)
		}
		if change.compare("", before.ProtoReflect(), change.wanted.ProtoReflect()); change.isNew || change.any() {
			changes = append(changes, change)
		}
	}
	return changes, nil
}
