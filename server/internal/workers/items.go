package workers

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/sweep"
)

// NoteItems stores a worker's log lines about items.
func (s *Service) NoteItems(ctx context.Context, in *fairleadv1.NoteItemsRequest) (*fairleadv1.NoteItemsResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	_, part, err := s.partOf(ctx, in)
	if err != nil {
		return nil, err
	}
	lines, err := part.lines(in)
	if err != nil {
		return nil, err
	}
	if len(lines) > 0 {
		if err := s.store.AddSweepLogs(ctx, lines); err != nil {
			return nil, err
		}
	}
	if in.GetStop() != "" {
		_, err = s.client.Stop(ctx, part.sweep, "", in.GetStop())
		if errors.Is(err, fairlead.ErrConflict) {
			err = nil // the sweep is no longer running
		}
	}
	return &fairleadv1.NoteItemsResponse{}, err
}

// ListRetries returns a shard's failed items that wait for a retry.
func (s *Service) ListRetries(ctx context.Context, in *fairleadv1.ListRetriesRequest) (*fairleadv1.ListRetriesResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	_, part, err := s.partOf(ctx, in)
	if err != nil {
		return nil, err
	}
	shard := sweep.Shard{Sweep: part.sweep, From: part.from, To: part.to}
	indexes, err := sweep.ShardRetries(ctx, s.store, shard, in.GetFrom(), int(in.GetLimit()))
	return &fairleadv1.ListRetriesResponse{Indexes: indexes}, err
}

// ListShardItems returns items from the list that is stored with a shard's sweep.
func (s *Service) ListShardItems(ctx context.Context, in *fairleadv1.ListShardItemsRequest) (*fairleadv1.ListShardItemsResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	_, part, err := s.partOf(ctx, in)
	if err != nil {
		return nil, err
	}
	items, err := s.store.SweepItems(ctx, part.sweep, in.GetFrom())
	return &fairleadv1.ListShardItemsResponse{Items: items}, err
}

// lines returns the log lines to store.
func (p *part) lines(in *fairleadv1.NoteItemsRequest) ([]sweep.Log, error) {
	strangers := strangers{part: p}
	var lines []sweep.Log
	for i, line := range in.GetLines() {
		strangers.check(fmt.Sprintf("lines[%d].index", i), line.GetIndex())
		level := line.GetLevel()
		if level == "" {
			level = "info"
		}
		lines = append(lines, sweep.Log{Sweep: p.sweep, Index: line.GetIndex(), Level: level, Text: line.GetText()})
	}
	return lines, strangers.err()
}

// outcomes returns the failed items. It also validates the items that are now done.
func (p *part) outcomes(in *fairleadv1.SaveShardRequest) ([]sweep.FailedItem, error) {
	strangers := strangers{part: p}
	var failed []sweep.FailedItem
	for i, item := range in.GetFailed() {
		strangers.check(fmt.Sprintf("failed[%d].index", i), item.GetIndex())
		failed = append(failed, sweep.FailedItem{Sweep: p.sweep, Index: item.GetIndex(), Attempts: int(item.GetAttempts()), Error: item.GetError()})
	}
	for i, index := range in.GetRedone() {
		strangers.check(fmt.Sprintf("redone[%d]", i), index)
	}
	return failed, strangers.err()
}

// strangers collects errors for items of other shards, which the worker must not report.
type strangers struct {
	part    *part
	refused fairlead.InvalidError
}

func (s *strangers) check(field string, index int64) {
	if p := s.part; index < p.from || p.to != 0 && index >= p.to {
		message := fmt.Sprintf("is %d, which is outside this shard; the shard covers %d to %d", index, p.from, p.to)
		s.refused.Fields = append(s.refused.Fields, fairlead.FieldError{Field: field, Message: message})
	}
}

func (s *strangers) err() error {
	if len(s.refused.Fields) == 0 {
		return nil
	}
	return &s.refused
}
