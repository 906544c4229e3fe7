package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// addFailed notes items, each once.
func (t *txn) addFailed(ctx context.Context, sweep int64, items []sweep.FailedItem) error {
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	var failed tuples
	for _, item := range items {
		at := now
		if !item.At.IsZero() {
			at = sqlstore.Micros(item.At)
		}
		failed.add().ints(sweep, item.Index, int64(item.Attempts)).str(sqlstore.CleanText(item.Error)).int(at).end()
	}
	return t.insert(ctx, t.sql.AddFailed, &failed)
}

// FailedItems lists items that came to nothing.
func (s *Store) FailedItems(ctx context.Context, filter sweep.ItemFilter) ([]sweep.FailedItem, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	first, end := sqlstore.ItemRange(filter)
	var items []sweep.FailedItem
	statement := s.sql.FailedItems
	if filter.Again {
		statement = s.sql.ItemsAgain
	}
	err := each(ctx, s.db, func(row *sql.Rows) error {
		item, err := sqlstore.ScanFailedItem(row)
		items = append(items, item)
		return err
	}, statement, filter.Sweep, first, end, sqlstore.ItemPage(filter))
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
	return s.inTx(ctx, "add sweep logs", func(ctx context.Context, t *txn) error {
		if err := t.sweepsExist(ctx, sqlstore.SweepsOf(logs)); err != nil {
			return err
		}
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var lines tuples
		for _, line := range logs {
			lines.add().ints(line.Sweep, line.Index).str(sqlstore.CleanText(line.Level)).str(sqlstore.CleanText(line.Text)).int(now).end()
		}
		return t.insert(ctx, t.sql.AddSweepLogs, &lines)
	})
}

// SweepLogs lists lines, newest first.
func (s *Store) SweepLogs(ctx context.Context, filter sweep.LogFilter) ([]sweep.Log, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	read := func(levels []string, statement string, args ...any) (lines []sweep.Log, err error) {
		named := ""
		if len(levels) > 0 {
			named = "and level in (" + nameList(levels) + ")"
		}
		err = each(ctx, s.db, func(row *sql.Rows) error {
			line, err := sqlstore.ScanSweepLog(row)
			lines = append(lines, line)
			return err
		}, fill(statement, "id", decimal(below), "named", named, "limit", decimal(sqlstore.LogPage(filter))), args...)
		if err != nil {
			return nil, fmt.Errorf("sweep logs: %w", err)
		}
		return lines, nil
	}
	switch {
	case filter.Index != nil:
		return read(filter.Levels, s.sql.ItemLogs, filter.Sweep, *filter.Index)
	case len(filter.Levels) > 0:
		return sqlstore.LinesByLevel(filter, func(level string) ([]sweep.Log, error) {
			const indexed = 16 // bytes of level_key
			return read([]string{level}, s.sql.LevelLogs, filter.Sweep, []byte(level)[:min(len(level), indexed)])
		})
	}
	return read(nil, s.sql.SweepLogs, filter.Sweep)
}

// SweepEvents lists what happened to a sweep, newest first.
func (s *Store) SweepEvents(ctx context.Context, filter sweep.EventFilter) ([]sweep.Event, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var events []sweep.Event
	below, limit := sqlstore.EventPage(filter)
	err := each(ctx, s.db, func(row *sql.Rows) error {
		event, err := sqlstore.ScanSweepEvent(row)
		events = append(events, event)
		return err
	}, s.sql.SweepEvents, filter.Sweep, below, limit)
	if err != nil {
		return nil, fmt.Errorf("sweep events: %w", err)
	}
	return events, nil
}

// pruneSweeps removes old lines and events of sweeps that have finished, at most limit
// of each, and tells how many.
func (s *Store) pruneSweeps(ctx context.Context, age time.Duration, limit int) (total int, err error) {
	if age <= 0 {
		return 0, nil
	}
	for _, of := range []struct{ find, drop string }{{s.sql.OldSweepLogs, s.sql.DropLogs}, {s.sql.OldSweepEvents, s.sql.DropEvents}} {
		removed, err := inChunks(limit, func(limit int) (removed int, err error) {
			err = s.inTx(ctx, "prune sweeps", func(ctx context.Context, t *txn) error {
				now, err := t.clock(ctx)
				if err != nil {
					return err
				}
				var old []int64
				before := now - age.Microseconds()
				if err := t.each(ctx, collect(&old), of.find, before, before, limit); err != nil {
					return err
				}
				removed = len(old)
				_, err = t.execIDs(ctx, of.drop, old)
				return err
			})
			return removed, err
		})
		total += removed
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
