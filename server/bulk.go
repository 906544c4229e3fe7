package server

import (
	"context"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/internal/message"
)

// Bulks implements the BulkService.
type Bulks struct {
	client   *bulk.Client
	stopping <-chan struct{}
}

// NewBulks returns a BulkService backed by store. When stopping is closed, all watches end.
func NewBulks(store Store, stopping <-chan struct{}) *Bulks {
	return &Bulks{client: bulk.NewClient(store), stopping: stopping}
}

func bulkTo(b bulk.Bulk) *fairleadv1.Bulk {
	f := &b.Filter
	return &fairleadv1.Bulk{
		Id: b.ID, Action: string(b.Action), Cause: b.Cause, Reason: b.Reason, Priority: int32(b.Priority), Queue: b.Queue, Rate: b.Rate, Actor: b.Actor,
		Filter: &fairleadv1.JobFilter{
			State: words(f.States), Kind: f.Kinds, Queue: f.Queues, Tenant: f.Tenants, Key: f.Key, Id: f.IDs,
			From: message.Time(f.From), To: message.Time(f.To), FinishedFrom: message.Time(f.FinishedFrom),
		},
		State: string(b.State), Stopping: b.Stopping, Error: b.Error, Matched: b.Matched, More: b.More, Done: b.Done, Missed: b.Missed,
		CreatedAt: message.Time(b.CreatedAt), StartedAt: message.Time(b.StartedAt), FinishedAt: message.Time(b.FinishedAt),
	}
}

// words converts names to strings; it returns nil if there are none.
func words[T ~string](names []T) []string {
	return items(names, func(name T) string { return string(name) })
}

// CreateBulk stores a bulk. In a dry run, it only counts the matching jobs.
func (s *Bulks) CreateBulk(ctx context.Context, in *fairleadv1.NewBulk) (*fairleadv1.Bulk, error) {
	b := bulk.Bulk{
		Action: bulk.Action(in.GetAction()), Filter: filterOf(in.GetFilter()), Cause: in.GetCause(), Reason: in.GetReason(),
		Priority: int(in.GetPriority()), Queue: in.GetQueue(), Rate: in.GetRate(),
	}
	b.Filter.IDs = in.GetFilter().GetId()
	if in.GetDryRun() {
		count, err := s.client.Preview(ctx, b)
		if err != nil {
			return nil, err
		}
		b.Status = bulk.Status{Matched: count.Total(), More: count.More}
		return bulkTo(b), nil
	}
	stored, err := s.client.Start(ctx, b)
	if err != nil {
		return nil, err
	}
	return bulkTo(stored), nil
}

// GetBulk returns a bulk.
func (s *Bulks) GetBulk(ctx context.Context, in *fairleadv1.GetBulkRequest) (*fairleadv1.Bulk, error) {
	b, err := s.client.Get(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return bulkTo(b), nil
}

// ListBulks returns bulks, newest first.
func (s *Bulks) ListBulks(ctx context.Context, in *fairleadv1.ListBulksRequest) (*fairleadv1.ListBulksResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	page, err := s.client.List(ctx, bulk.Filter{Below: below, Limit: pageSize(in.GetPageSize())})
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListBulksResponse{Items: items(page.Bulks, bulkTo), NextPageToken: pageToken(page.Next)}, nil
}

// ListBulkMisses returns the matching jobs that a bulk left unchanged.
func (s *Bulks) ListBulkMisses(ctx context.Context, in *fairleadv1.ListBulkMissesRequest) (*fairleadv1.ListBulkMissesResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	size := pageSize(in.GetPageSize())
	misses, err := s.client.Misses(ctx, in.GetId(), bulk.MissFilter{Below: below, Limit: size + 1})
	if err != nil {
		return nil, err
	}
	misses, next := page(misses, size, func(miss bulk.Miss) int64 { return miss.Job })
	shown := func(miss bulk.Miss) *fairleadv1.BulkMiss { return &fairleadv1.BulkMiss{Job: miss.Job, Why: miss.Why} }
	return &fairleadv1.ListBulkMissesResponse{Items: items(misses, shown), NextPageToken: pageToken(next)}, nil
}

// WatchBulk sends the bulk after every change until the bulk has ended.
func (s *Bulks) WatchBulk(ctx context.Context, in *fairleadv1.GetBulkRequest, send func(*fairleadv1.Bulk) error) error {
	whole := func(b *fairleadv1.Bulk) *fairleadv1.Bulk { return b }
	ended := func(b *fairleadv1.Bulk) bool { return bulk.State(b.GetState()).Final() }
	return watch(ctx, s.stopping, in, s.GetBulk, whole, ended, send)
}

// StopBulk requests that a bulk stop processing jobs.
func (s *Bulks) StopBulk(ctx context.Context, in *fairleadv1.GetBulkRequest) (*fairleadv1.Bulk, error) {
	b, err := s.client.Stop(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return bulkTo(b), nil
}
