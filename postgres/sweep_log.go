package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// FailedItems lists items that came to nothing.
func (s *Store) FailedItems(ctx context.Context, filter sweep.ItemFilter) ([]sweep.FailedItem, error) {
	first, end := sqlstore.ItemRange(filter)
	var items []sweep.FailedItem
	text := s.sql.FailedItems
	if filter.Again {
		text = s.sql.ItemsAgain
	}
	err := s.run(ctx, call{
		sql: text, args: []any{filter.Sweep, first, sqlstore.ItemPage(filter), end}, restart: func() { items = nil },
		each: func(row sqlstore.Scanner) error {
			item, err := sqlstore.ScanFailedItem(row)
			items = append(items, item)
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("failed items: %w", err)
	}
	return items, nil
}

// AddSweepLogs stores lines.
func (s *Store) AddSweepLogs(ctx context.Context, logs []sweep.Log) error {
	if len(logs) == 0 {
		return nil
	}
	n := len(logs)
	of, indexes, levels, texts := make([]int64, n), make([]int64, n), make([]string, n), make([]string, n)
	for i, line := range logs {
		of[i], indexes[i], levels[i], texts[i] = line.Sweep, line.Index, sqlstore.CleanText(line.Level), sqlstore.CleanText(line.Text)
	}
	sweeps := sqlstore.SweepsOf(logs)
	var exist []int64
	err := s.run(ctx,
		idsCall(&exist, s.sql.ShareSweeps, sweeps),
		call{sql: s.sql.AddSweepLogs, args: []any{sweeps, of, indexes, levels, texts}})
	for i, sweep := range sweeps {
		if err == nil && (i >= len(exist) || exist[i] != sweep) {
			err = sqlstore.NoSuchSweep(sweep)
		}
	}
	if err != nil {
		return fmt.Errorf("add sweep logs: %w", err)
	}
	return nil
}

// SweepLogs lists lines, newest first.
func (s *Store) SweepLogs(ctx context.Context, filter sweep.LogFilter) ([]sweep.Log, error) {
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	page := []any{filter.Sweep, below, sqlstore.LogPage(filter)}
	switch {
	case filter.Index != nil:
		return s.readLines(ctx, s.sql.ItemLogs, append(page, distinct(filter.Levels), *filter.Index)...)
	case len(filter.Levels) > 0:
		return sqlstore.LinesByLevel(filter, func(level string) ([]sweep.Log, error) {
			return s.readLines(ctx, s.sql.LevelLogs, append(slices.Clone(page), level)...)
		})
	}
	return s.readLines(ctx, s.sql.SweepLogs, page...)
}

func (s *Store) readLines(ctx context.Context, text string, args ...any) (lines []sweep.Log, err error) {
	err = s.run(ctx, call{sql: text, args: args, restart: func() { lines = nil }, each: func(row sqlstore.Scanner) error {
		line, err := sqlstore.ScanSweepLog(row)
		lines = append(lines, line)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("sweep logs: %w", err)
	}
	return lines, nil
}

// SweepEvents lists what happened to a sweep, newest first.
func (s *Store) SweepEvents(ctx context.Context, filter sweep.EventFilter) ([]sweep.Event, error) {
	var events []sweep.Event
	below, limit := sqlstore.EventPage(filter)
	err := s.run(ctx, call{
		sql: s.sql.SweepEvents, args: []any{filter.Sweep, below, limit}, restart: func() { events = nil },
		each: func(row sqlstore.Scanner) error {
			event, err := sqlstore.ScanSweepEvent(row)
			events = append(events, event)
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("sweep events: %w", err)
	}
	return events, nil
}

// pruneSweeps removes old lines and events of sweeps that have finished, at most limit
// of each, and tells how many.
func (s *Store) pruneSweeps(ctx context.Context, age time.Duration, limit int) (int, error) {
	if age <= 0 {
		return 0, nil
	}
	var lines, events int
	args := []any{limit, age.Microseconds()}
	err := s.run(ctx,
		call{sql: s.sql.PruneSweepLogs, args: args, each: func(row sqlstore.Scanner) error { return row.Scan(&lines) }},
		call{sql: s.sql.PruneSweepEvents, args: args, each: func(row sqlstore.Scanner) error { return row.Scan(&events) }})
	if err != nil {
		return 0, err
	}
	return lines + events, nil
}
