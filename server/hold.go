package server

import (
	"context"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/message"
)

// Holds implements the HoldService.
type Holds struct {
	client *hold.Client
}

// NewHolds returns a HoldService backed by store.
func NewHolds(store Store) *Holds { return &Holds{hold.NewClient(store)} }

// ListHolds returns the holds that kept jobs waiting.
func (s *Holds) ListHolds(ctx context.Context, in *fairleadv1.ListHoldsRequest) (*fairleadv1.ListHoldsResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	page, err := s.client.List(ctx, hold.Filter{
		Queue: in.GetQueue(), Tenant: in.GetTenant(), Kind: in.GetKind(),
		From: message.TimeOf(in.GetFrom()), To: message.TimeOf(in.GetTo()), Below: below, Limit: int(in.GetPageSize()),
	})
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListHoldsResponse{
		Items: items(page.Holds, holdTo), NextPageToken: pageToken(page.Next), At: message.Time(page.At), Since: message.Time(page.Since),
	}, nil
}

func holdTo(h hold.Hold) *fairleadv1.Hold {
	return &fairleadv1.Hold{
		Id: h.ID, Code: string(h.Code), Scope: string(h.Scope), Queue: h.Queue, Tenant: h.Tenant, Kind: h.Kind, Gate: h.Gate,
		From: message.Time(h.From), Until: message.Time(h.Until), Used: int32(h.Used), Cap: int32(h.Cap), Text: h.Text(),
	}
}

// GetJobHistory returns the history of a job's waits and their causes.
func (s *Jobs) GetJobHistory(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.JobHistory, error) {
	history, err := s.holds.History(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return &fairleadv1.JobHistory{
		Id: history.ID, State: string(history.State), At: message.Time(history.At),
		Stretches: items(history.Stretches, func(s hold.Stretch) *fairleadv1.Stretch {
			return &fairleadv1.Stretch{From: message.Time(s.From), Until: message.Time(s.Until), Run: int32(s.Run), Causes: items(s.Causes, obstacleTo)}
		}),
	}, nil
}
