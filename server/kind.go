package server

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/masks"
)

// Kinds implements the KindService.
type Kinds struct {
	client *fairlead.Client
	masks  *masks.Masks // to be notified of changes; may be nil
}

// NewKinds returns a KindService backed by store.
func NewKinds(store Store) *Kinds { return &Kinds{client: fairlead.NewClient(store)} }

// ListKinds returns all kinds that have live jobs, that live nodes handle, that are paused,
// or that have confidential fields.
func (s *Kinds) ListKinds(ctx context.Context, _ *fairleadv1.ListKindsRequest) (*fairleadv1.ListKindsResponse, error) {
	report, err := s.client.Usage(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := s.client.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	pauses, err := s.client.Pauses(ctx)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*fairleadv1.Kind{}
	of := func(name string) *fairleadv1.Kind {
		if kinds[name] == nil {
			kinds[name] = &fairleadv1.Kind{Name: name}
		}
		return kinds[name]
	}
	for _, usage := range report.Kinds {
		of(usage.Name)
	}
	for _, node := range nodes {
		if node.Dead {
			continue
		}
		for _, name := range node.Kinds {
			of(name).Nodes++
		}
	}
	for _, pause := range pauses {
		if pause.Scope == fairlead.PauseKind {
			kind := of(pause.Name)
			kind.Paused, kind.PauseReason = true, pause.Reason
		}
	}
	fields, err := s.client.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	for name, some := range fields {
		of(name).Confidential = some
	}
	byName := func(a, b *fairleadv1.Kind) int { return cmp.Compare(a.GetName(), b.GetName()) }
	return &fairleadv1.ListKindsResponse{Items: slices.SortedFunc(maps.Values(kinds), byName)}, nil
}

// PauseKind prevents jobs of a kind from starting.
func (s *Kinds) PauseKind(ctx context.Context, in *fairleadv1.KindRequest) (*fairleadv1.KindResponse, error) {
	return &fairleadv1.KindResponse{}, s.client.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseKind, Name: in.GetName(), Reason: in.GetReason()})
}

// ResumeKind undoes PauseKind.
func (s *Kinds) ResumeKind(ctx context.Context, in *fairleadv1.KindRequest) (*fairleadv1.KindResponse, error) {
	return &fairleadv1.KindResponse{}, s.client.ResumeKind(ctx, in.GetName())
}

// SetKind sets the fields that are confidential in jobs of a kind.
func (s *Kinds) SetKind(ctx context.Context, in *fairleadv1.SetKindRequest) (*fairleadv1.Kind, error) {
	if err := s.client.SetConfidential(ctx, in.GetName(), in.GetConfidential()); err != nil {
		return nil, err
	}
	if s.masks != nil {
		s.masks.Forget()
	}
	all, err := s.ListKinds(ctx, &fairleadv1.ListKindsRequest{})
	if err != nil {
		return nil, err
	}
	for _, kind := range all.GetItems() {
		if kind.GetName() == in.GetName() {
			return kind, nil
		}
	}
	return &fairleadv1.Kind{Name: in.GetName()}, nil // no node handles it
}
