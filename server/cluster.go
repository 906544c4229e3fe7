package server

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Queues implements the QueueService.
type Queues struct {
	client *fairlead.Client
}

// NewQueues returns a QueueService backed by store.
func NewQueues(store Store) *Queues { return &Queues{client: fairlead.NewClient(store)} }

// ListQueues returns all queues that contain live jobs, that nodes serve by name, or that
// are paused.
func (s *Queues) ListQueues(ctx context.Context, _ *fairleadv1.ListQueuesRequest) (*fairleadv1.ListQueuesResponse, error) {
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
	queues := map[string]*fairleadv1.Queue{}
	of := func(name string) *fairleadv1.Queue {
		if queues[name] == nil {
			queues[name] = &fairleadv1.Queue{Name: name}
		}
		return queues[name]
	}
	for _, u := range report.Queues {
		queue := of(u.Name)
		queue.Scheduled, queue.Parked, queue.Ready = int64(u.Scheduled), int64(u.Parked), int64(u.Ready)
		queue.Running, queue.Waiting, queue.OldestWait = int64(u.Running), int64(u.Waiting), message.Duration(u.OldestWait)
	}
	for _, node := range nodes {
		for _, name := range node.Queues {
			of(name)
		}
	}
	for _, pause := range pauses {
		if pause.Scope == fairlead.PauseQueue {
			queue := of(pause.Name)
			queue.Paused, queue.PauseReason = true, pause.Reason
		}
	}
	byName := func(a, b *fairleadv1.Queue) int { return cmp.Compare(a.GetName(), b.GetName()) }
	return &fairleadv1.ListQueuesResponse{Items: slices.SortedFunc(maps.Values(queues), byName)}, nil
}

// PauseQueue prevents a queue's jobs from starting.
func (s *Queues) PauseQueue(ctx context.Context, in *fairleadv1.QueueRequest) (*fairleadv1.QueueResponse, error) {
	return &fairleadv1.QueueResponse{}, s.client.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: in.GetName(), Reason: in.GetReason()})
}

// ResumeQueue undoes PauseQueue.
func (s *Queues) ResumeQueue(ctx context.Context, in *fairleadv1.QueueRequest) (*fairleadv1.QueueResponse, error) {
	return &fairleadv1.QueueResponse{}, s.client.ResumeQueue(ctx, in.GetName())
}

// Limits implements the LimitService.
type Limits struct {
	store  Store
	client *fairlead.Client
}

// NewLimits returns a LimitService backed by store.
func NewLimits(store Store) *Limits {
	return &Limits{store: store, client: fairlead.NewClient(store)}
}

// scopeTo returns the API form of a limit's scope: "global", or for example "queue:mail".
func scopeTo(scope fairlead.LimitScope, name string) string {
	if scope == fairlead.LimitGlobal {
		return string(scope)
	}
	return string(scope) + ":" + name
}

// scopeOf parses the API form of a limit's scope. It reverses scopeTo.
func scopeOf(text string) (scope fairlead.LimitScope, name string, err error) {
	before, name, named := strings.Cut(text, ":")
	switch scope = fairlead.LimitScope(before); {
	case scope == fairlead.LimitGlobal && !named:
	case (scope == fairlead.LimitQueue || scope == fairlead.LimitKind) && name != "":
	case scope == fairlead.LimitTenant:
		return "", "", rest.InvalidField("scope", "is a tenant; set max_running and rate on the tenant itself")
	default:
		return "", "", rest.InvalidField("scope", "must be global, queue:NAME or kind:NAME")
	}
	return scope, name, nil
}

func limitTo(use fairlead.LimitUse) *fairleadv1.Limit {
	return &fairleadv1.Limit{
		Scope: scopeTo(use.Scope, use.Name), MaxRunning: int32(use.MaxRunning), Rate: use.Rate, Burst: int32(use.Burst),
		PerKey: int32(use.PerKey), Running: int32(use.Running), MinRunning: int32(use.MinRunning),
		Order: string(use.Order),
	}
}

// limitOf converts a limit from its API form, ignoring the usage.
func limitOf(in *fairleadv1.Limit) (fairlead.Limit, error) {
	scope, name, err := scopeOf(in.GetScope())
	return fairlead.Limit{
		Scope: scope, Name: name, MaxRunning: int(in.GetMaxRunning()), Rate: in.GetRate(), Burst: int(in.GetBurst()),
		PerKey: int(in.GetPerKey()), Order: fairlead.Order(in.GetOrder()),
	}, err
}

// ListLimits returns all limits with their usage.
func (s *Limits) ListLimits(ctx context.Context, _ *fairleadv1.ListLimitsRequest) (*fairleadv1.ListLimitsResponse, error) {
	limits, err := s.client.Limits(ctx)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListLimitsResponse{Items: items(limits, limitTo)}, nil
}

// SetLimit sets or removes a scope's limit.
func (s *Limits) SetLimit(ctx context.Context, in *fairleadv1.Limit) (*fairleadv1.Limit, error) {
	limit, err := limitOf(in)
	if err != nil {
		return nil, err
	}
	if err := s.client.SetLimit(ctx, limit); err != nil {
		return nil, err
	}
	return s.limit(ctx, in.GetScope())
}

// limit returns the limit of a scope, or an empty limit if none is set.
func (s *Limits) limit(ctx context.Context, scope string) (*fairleadv1.Limit, error) {
	limits, err := s.client.Limits(ctx)
	if err != nil {
		return nil, err
	}
	for _, use := range limits {
		if scopeTo(use.Scope, use.Name) == scope {
			return limitTo(use), nil
		}
	}
	return &fairleadv1.Limit{Scope: scope}, nil
}

// Verify recounts each limit's jobs and each open batch's tasks, corrects wrong counts, and
// returns them.
func (s *Limits) Verify(ctx context.Context, _ *fairleadv1.VerifyRequest) (*fairleadv1.VerifyResponse, error) {
	drift, err := s.store.Verify(ctx)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.VerifyResponse{Items: items(drift, driftTo)}, nil
}

func driftTo(d driver.Drift) *fairleadv1.Drift {
	return &fairleadv1.Drift{Scope: scopeTo(d.Scope, d.Name), Counted: int32(d.Counted), Found: int32(d.Found)}
}
