package server

import (
	"context"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// AddSweepLogs stores log lines about a sweep's items.
func (s *Sweeps) AddSweepLogs(ctx context.Context, in *fairleadv1.AddSweepLogsRequest) (*fairleadv1.AddSweepLogsResponse, error) {
	var lines []sweep.Log
	for _, line := range in.GetItems() {
		lines = append(lines, sweep.Log{Index: line.GetIndex(), Level: line.GetLevel(), Text: line.GetText()})
	}
	switch {
	case len(lines) == 0 && in.GetText() == "":
		return nil, rest.InvalidField("text", "is missing; set it, or send several lines in items")
	case len(lines) == 0:
		lines = append(lines, sweep.Log{Index: in.GetIndex(), Level: in.GetLevel(), Text: in.GetText()})
	case in.GetText() != "" || in.GetLevel() != "" || in.GetIndex() != 0:
		return nil, rest.InvalidField("items", "cannot be combined with a single line; use one or the other")
	}
	sweep, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.client.Log(ctx, sweep.ID, lines...); err != nil {
		return nil, err
	}
	return &fairleadv1.AddSweepLogsResponse{}, nil
}

// ListSweepLogs returns log lines about a sweep's items, newest first.
func (s *Sweeps) ListSweepLogs(ctx context.Context, in *fairleadv1.ListSweepLogsRequest) (*fairleadv1.ListSweepLogsResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	sw, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	size := pageSize(in.GetPageSize())
	lines, err := s.client.Logs(ctx, sweep.LogFilter{Sweep: sw.ID, Levels: in.GetLevel(), Index: in.Index, Below: below, Limit: size + 1})
	if err != nil {
		return nil, err
	}
	lines, next := page(lines, size, func(line sweep.Log) int64 { return line.ID })
	secrets, err := s.masks.OfSweep(ctx, &sw.Sweep)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		lines[i].Text = secrets.Text(lines[i].Text)
	}
	return &fairleadv1.ListSweepLogsResponse{Items: items(lines, sweepLogTo), NextPageToken: pageToken(next)}, nil
}

// ListFailedItems returns a sweep's permanently failed items. A page token is the smallest
// index that the page may contain. Although index 0 exists, it is never the first index of a
// later page.
func (s *Sweeps) ListFailedItems(ctx context.Context, in *fairleadv1.ListFailedItemsRequest) (*fairleadv1.ListFailedItemsResponse, error) {
	first, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	sw, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	size := pageSize(in.GetPageSize())
	failed, err := s.client.FailedItems(ctx, sweep.ItemFilter{Sweep: sw.ID, After: first - 1, From: first > 0, Limit: size + 1})
	if err != nil {
		return nil, err
	}
	failed, next := page(failed, size, func(item sweep.FailedItem) int64 { return item.Index + 1 })
	secrets, err := s.masks.OfSweep(ctx, &sw.Sweep)
	if err != nil {
		return nil, err
	}
	for i := range failed {
		failed[i].Error = secrets.Text(failed[i].Error)
	}
	return &fairleadv1.ListFailedItemsResponse{Items: items(failed, failedItemTo), NextPageToken: pageToken(next)}, nil
}

// ListSweepHistory returns a sweep's events, newest first.
func (s *Sweeps) ListSweepHistory(ctx context.Context, in *fairleadv1.ListSweepHistoryRequest) (*fairleadv1.ListSweepHistoryResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	sw, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	size := pageSize(in.GetPageSize())
	events, err := s.client.History(ctx, sweep.EventFilter{Sweep: sw.ID, Below: below, Limit: size + 1})
	if err != nil {
		return nil, err
	}
	events, next := page(events, size, func(event sweep.Event) int64 { return event.ID })
	secrets, err := s.masks.OfSweep(ctx, &sw.Sweep)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].Note = secrets.Text(events[i].Note)
	}
	return &fairleadv1.ListSweepHistoryResponse{Items: items(events, sweepEventTo), NextPageToken: pageToken(next)}, nil
}

// ListShards returns a sweep's shards.
func (s *Sweeps) ListShards(ctx context.Context, in *fairleadv1.GetSweepRequest) (*fairleadv1.ListShardsResponse, error) {
	sweep, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	shards, err := s.client.Shards(ctx, sweep.ID)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListShardsResponse{Items: items(shards, message.Shard)}, nil
}

func sweepLogTo(line sweep.Log) *fairleadv1.SweepLog {
	return &fairleadv1.SweepLog{Id: line.ID, Index: proto.Int64(line.Index), Level: line.Level, Text: line.Text, At: message.Time(line.At)}
}

func failedItemTo(item sweep.FailedItem) *fairleadv1.FailedItem {
	return &fairleadv1.FailedItem{Index: proto.Int64(item.Index), Attempts: int32(item.Attempts), Error: item.Error, At: message.Time(item.At), Again: item.Again}
}

func sweepEventTo(e sweep.Event) *fairleadv1.SweepEvent {
	return &fairleadv1.SweepEvent{At: message.Time(e.At), By: e.By, Action: e.Action, From: string(e.From), To: string(e.To), Note: e.Note}
}
