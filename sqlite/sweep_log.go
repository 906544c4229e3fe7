package sqlite

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// addFailed notes items, each once.
func (t *txn) addFailed(sweep int64, items []sweep.FailedItem) error {
	for _, item := range items {
		at := t.now
		if !item.At.IsZero() {
			at = sqlstore.Micros(item.At)
		}
		if err := t.must(1, t.sql.AddFailed, sweep, item.Index, item.Attempts, sqlstore.CleanText(item.Error), at); err != nil {
			return err
		}
	}
	return nil
}

// FailedItems lists items that came to nothing.
func (s *Store) FailedItems(ctx context.Context, filter sweep.ItemFilter) ([]sweep.FailedItem, error) {
	first, end := sqlstore.ItemRange(filter)
	return read(ctx, s, "list failed items", func(t *txn) ([]sweep.FailedItem, error) {
		var items []sweep.FailedItem
		query := t.sql.FailedItems
		if filter.Again {
			query = t.sql.ItemsAgain
		}
		err := t.each(query, []any{filter.Sweep, first, end, sqlstore.ItemPage(filter)}, func(row sqlstore.Scanner) error {
			item, err := sqlstore.ScanFailedItem(row)
			items = append(items, item)
			return err
		})
		return items, err
	})
}

// AddSweepLogs stores lines.
func (s *Store) AddSweepLogs(ctx context.Context, logs []sweep.Log) error {
	if len(logs) == 0 {
		return nil
	}
	logs = slices.Clone(logs)
	_, err := inTx(ctx, s, "add to the log of a sweep", func(t *txn) (none, error) {
		for _, sweep := range sqlstore.SweepsOf(logs) {
			if _, err := t.sweep(sweep); err != nil {
				return none{}, err
			}
		}
		id, err := t.next(sweepLogCounter, int64(len(logs)))
		for _, line := range logs {
			if err == nil {
				err = t.must(1, t.sql.AddSweepLog, id, line.Sweep, line.Index, sqlstore.CleanText(line.Level), sqlstore.CleanText(line.Text), t.now)
			}
			id++
		}
		return none{}, err
	})
	return err
}

// SweepLogs lists lines.
func (s *Store) SweepLogs(ctx context.Context, filter sweep.LogFilter) ([]sweep.Log, error) {
	return read(ctx, s, "read the log of a sweep", func(t *txn) ([]sweep.Log, error) {
		if len(filter.Levels) == 0 || filter.Index != nil {
			return t.readLines(filter)
		}
		return sqlstore.LinesByLevel(filter, func(level string) ([]sweep.Log, error) {
			one := filter
			one.Levels = []string{level}
			return t.readLines(one)
		})
	})
}

func (t *txn) readLines(filter sweep.LogFilter) (lines []sweep.Log, err error) {
	conditions, args := []string{"sweep = ?"}, []any{filter.Sweep}
	add := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	switch {
	case filter.Index != nil:
		add("idx = ?", *filter.Index)
		if len(filter.Levels) > 0 {
			add("level in (select value from json_each(?))", jsonOf(filter.Levels))
		}
	case len(filter.Levels) > 0:
		add("level = ?", filter.Levels[0])
	}
	if filter.Below > 0 {
		add("id < ?", filter.Below)
	}
	query := t.sql.SweepLogs + " where " + strings.Join(conditions, " and ") + " order by id desc limit " + strconv.Itoa(sqlstore.LogPage(filter))
	err = t.each(query, args, func(row sqlstore.Scanner) error {
		line, err := sqlstore.ScanSweepLog(row)
		lines = append(lines, line)
		return err
	})
	return lines, err
}

// SweepEvents lists what happened to a sweep.
func (s *Store) SweepEvents(ctx context.Context, filter sweep.EventFilter) ([]sweep.Event, error) {
	below, limit := sqlstore.EventPage(filter)
	return read(ctx, s, "read the history of a sweep", func(t *txn) ([]sweep.Event, error) {
		var events []sweep.Event
		err := t.each(t.sql.SweepEvents, []any{filter.Sweep, below, limit}, func(row sqlstore.Scanner) error {
			event, err := sqlstore.ScanSweepEvent(row)
			events = append(events, event)
			return err
		})
		return events, err
	})
}

// pruneSweeps removes old lines and events of sweeps that have finished, at most limit
// of each, and tells how many.
func (s *Store) pruneSweeps(ctx context.Context, age time.Duration, limit int) (int, error) {
	total := 0
	if age <= 0 {
		return total, nil
	}
	for _, query := range []string{s.sql.ForgetSweepLogs, s.sql.ForgetSweepEvents} {
		removed, err := inChunks(limit, keepChunk, func(limit int) (int, error) {
			return inTx(ctx, s, "prune sweeps", func(t *txn) (int, error) {
				before := t.now - age.Microseconds()
				removed, err := t.exec(query, before, before, limit)
				return int(removed), err
			})
		})
		total += removed
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
