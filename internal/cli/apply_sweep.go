package cli

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// sweepSetByServer lists the fields of a sweep that are not part of a file.
var sweepSetByServer = []protoreflect.Name{
	"id", "version", "state", "reason", "run", "progress", "created_at", "started_at", "ended_at", "asked_at", "ref", "clear",
}

// sweepChange is the change of a sweep to match a file.
type sweepChange struct {
	current, wanted *fairleadv1.Sweep // current is nil if the sweep does not exist yet
	differences
}

func (change *sweepChange) text() string {
	return change.describe(change.current == nil, "sweep "+change.wanted.GetName())
}

// asked returns nil, because a sweep runs at its own rate, whatever else starts.
func (change *sweepChange) asked() *fairleadv1.WhatIfChange { return nil }

// make creates a sweep, which does not run until it is started, or changes the fields that
// differ.
func (change *sweepChange) make(ctx context.Context, c *call) (err error) {
	if change.current == nil {
		_, err = c.sweeps.CreateSweep(ctx, change.wanted)
		return err
	}
	patch := &fairleadv1.Sweep{Ref: change.current.GetId(), Version: change.current.GetVersion()}
	from, into := change.wanted.ProtoReflect(), patch.ProtoReflect()
	for _, name := range change.fields {
		f := from.Descriptor().Fields().ByName(name)
		into.Set(f, from.Get(f))
	}
	_, err = c.sweeps.PatchSweep(ctx, patch)
	return err
}

// sweepAsFile returns a sweep without the fields that the server sets.
func sweepAsFile(sweep *fairleadv1.Sweep) *fairleadv1.Sweep {
	out := proto.CloneOf(sweep)
	for _, name := range sweepSetByServer {
		out.ProtoReflect().Clear(out.ProtoReflect().Descriptor().Fields().ByName(name))
	}
	return out
}

// allSweeps returns all sweeps.
func (c *call) allSweeps(ctx context.Context) ([]*fairleadv1.Sweep, error) {
	all, _, err := pages(0, func(size int32, token string) (*fairleadv1.ListSweepsResponse, error) {
		return c.sweeps.ListSweeps(ctx, &fairleadv1.ListSweepsRequest{PageSize: size, PageToken: token})
	})
	return all, err
}

// sweepChanges compares the sweeps of a file with the existing ones.
func (c *call) sweepChanges(ctx context.Context, wanted []*fairleadv1.Sweep) (changes []change, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	there, err := c.allSweeps(ctx)
	if err != nil {
		return nil, err
	}
	known := byName(there)
	for _, w := range wanted {
		change := &sweepChange{current: known[w.GetName()], wanted: sweepAsFile(w), differences: differences{said: true}}
		before := &fairleadv1.Sweep{}
		if change.current != nil {
			before = sweepAsFile(change.current)
		}
		if change.compare("", before.ProtoReflect(), change.wanted.ProtoReflect()); change.current == nil || change.any() {
			changes = append(changes, change)
		}
	}
	return changes, nil
}
