package server

import (
	"context"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/scope"
)

// ListBreakers returns the circuit breakers of targets that this node has stopped calling.
func (s *System) ListBreakers(ctx context.Context, _ *fairleadv1.ListBreakersRequest) (*fairleadv1.ListBreakersResponse, error) {
	if err := scope.RequireUnrestricted(ctx); err != nil {
		return nil, err // targets are called for all tenants
	}
	out := &fairleadv1.ListBreakersResponse{}
	if s.breakers == nil {
		return out, nil
	}
	for _, breaker := range s.breakers() {
		out.Items = append(out.Items, breakerTo(breaker))
	}
	return out, nil
}

func breakerTo(b httpcall.Breaker) *fairleadv1.Breaker {
	state := "open"
	if b.HalfOpen {
		state = "half_open"
	}
	return &fairleadv1.Breaker{Address: b.Address, State: state, Failures: int32(b.Failures), Since: message.Time(b.Since), OpenUntil: message.Time(b.Until)}
}
