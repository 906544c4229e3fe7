package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// NoteItems keeps what a worker has to say of items.
func (s *Workers) NoteItems(ctx context.Context, in *fairleadv1.NoteItemsRequest) (*fairleadv1.NoteItemsResponse, error) {
	if err := s.sessions.check(ctx, in); err != nil {
		return nil, err
	}
	ctx, cancel := s.brief(ctx)
	defer cancel()
	_, part, err := s.partOf(ctx, in)
	if err != nil {
		return nil, err
	}
	failed, lines, err := part.notes(in)
	if err != nil {
		return nil, err
	}
	if len(failed) > 0 {
		if err := s.store.AddFailed(ctx, part.sweep, failed); err != nil {
			return nil, err
		}
	}
	if len(lines) > 0 {
		if err := s.store.AddSweepLogs(ctx, lines); err != nil {
			return nil, err
		}
	}
	if in.GetStop() != "" {
		_, err = s.client.StopSweep(ctx, part.sweep, "", in.GetStop())
		if errors.Is(err, fairlead.ErrConflict) {
			err = nil // it does not run any more
		}
	}
	return &fairleadv1.NoteItemsResponse{}, err
}

// notes are what is to be kept. Items of other shards are not the worker's.
func (p *part) notes(in *fairleadv1.NoteItemsRequest) (failed []fairlead.FailedItem, lines []fairlead.SweepLog, err error) {
	refusal := &fairlead.InvalidError{}
	check := func(list string, i int, index int64) {
		if index < p.from || p.to != 0 && index >= p.to {
			message := fmt.Sprintf("is %d, which is not of this shard; it goes from %d to %d", index, p.from, p.to)
			refusal.Fields = append(refusal.Fields, fairlead.FieldError{Field: fmt.Sprintf("%s[%d].index", list, i), Message: message})
		}
	}
	for i, item := range in.GetFailed() {
		check("failed", i, item.GetIndex())
		failed = append(failed, fairlead.FailedItem{Sweep: p.sweep, Index: item.GetIndex(), Attempts: int(item.GetAttempts()), Error: item.GetError()})
	}
	for i, line := range in.GetLines() {
		check("lines", i, line.GetIndex())
		level := line.GetLevel()
		if level == "" {
			level = "info"
		}
		lines = append(lines, fairlead.SweepLog{Sweep: p.sweep, Index: line.GetIndex(), Level: level, Text: line.GetText()})
	}
	if len(refusal.Fields) > 0 {
		return nil, nil, refusal
	}
	return failed, lines, nil
}
