package cli

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// limitChange is the change of a limit to match a file.
type limitChange struct {
	isNew  bool
	wanted *fairleadv1.Limit
	differences
}

func (change *limitChange) text() string {
	return change.describe(change.isNew, "limit "+change.wanted.GetScope())
}

func (change *limitChange) asked() *fairleadv1.WhatIfChange {
	return &fairleadv1.WhatIfChange{Limit: change.wanted}
}

// make sets one limit.
func (change *limitChange) make(ctx context.Context, c *call) error {
	_, err := c.limits.SetLimit(ctx, change.wanted)
	return err
}

// limitAsFile returns a limit without the fields that the server counts.
func limitAsFile(limit *fairleadv1.Limit) *fairleadv1.Limit {
	out := proto.CloneOf(limit)
	out.Running, out.MinRunning = 0, 0
	return out
}

// burstAsKept returns the burst that the server uses if a rate is given without one.
func burstAsKept(rate float64, burst int32) int32 {
	limit := fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: rate, Burst: int(burst)}
	if err := fairlead.NormalizeLimit(&limit); err != nil {
		return burst // the server rejects it
	}
	return int32(limit.Burst)
}

// limitChanges compares the limits of a file with the existing ones.
func (c *call) limitChanges(ctx context.Context, wanted []*fairleadv1.Limit) (changes []change, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	there, err := c.limits.ListLimits(ctx, &fairleadv1.ListLimitsRequest{})
	if err != nil {
		return nil, err
	}
	known := map[string]*fairleadv1.Limit{}
	for _, limit := range there.GetItems() {
		known[limit.GetScope()] = limit
	}
	for _, w := range wanted {
		current := known[w.GetScope()]
		change := &limitChange{isNew: current == nil, wanted: limitAsFile(w)}
		change.wanted.Burst = burstAsKept(w.GetRate(), w.GetBurst())
		before := &fairleadv1.Limit{Scope: w.GetScope()}
		if current != nil {
			before = limitAsFile(current)
		}
		if change.compare("", before.ProtoReflect(), change.wanted.ProtoReflect()); change.any() {
			changes = append(changes, change)
		}
	}
	return changes, nil
}
