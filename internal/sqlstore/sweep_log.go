package sqlstore

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/sweep"
)

// sweepLogStore stores records about sweeps: failed items, log lines about items, and the
// history of the sweeps.
type sweepLogStore struct {
	db  Database
	sql *SweepLogStatements
}

// SweepLogStatements holds the SQL statements of sweepLogStore.
type SweepLogStatements struct {
	FailedItems    string `sql:"failed_items"`
	ItemsAgain     string `sql:"items_again"`
	MissingSweeps  string `sql:"missing_sweeps"`
	AddSweepLogs   string `sql:"add_sweep_logs"`
	SweepLogs      string `sql:"sweep_logs"`
	LevelLogs      string `sql:"level_logs"`
	ItemLogs       string `sql:"item_logs"`
	ItemLevelLogs  string `sql:"item_level_logs"`
	SweepEvents    string `sql:"sweep_events"`
	OldSweepLogs   string `sql:"old_sweep_logs"`
	DropLogs       string `sql:"drop_logs"`
	OldSweepEvents string `sql:"old_sweep_events"`
	DropEvents     string `sql:"drop_events"`
}

// FailedItems lists failed items by index.
func (s *sweepLogStore) FailedItems(ctx context.Context, filter sweep.ItemFilter) ([]sweep.FailedItem, error) {
	statement := s.sql.FailedItems
	if filter.Again {
		statement = s.sql.ItemsAgain
	}
	first, end := ItemRange(filter)
	return readList(ctx, s.db.Read, "failed items", ScanFailedItem, statement, filter.Sweep, first, end, page(filter.Limit))
}

// AddSweepLogs stores log lines. If one of their sweeps does not exist, it stores none.
func (s *sweepLogStore) AddSweepLogs(ctx context.Context, logs []sweep.Log) error {
	if len(logs) == 0 {
		return nil
	}
	var lines Rows
	for _, line := range logs {
		lines.Add(line.Sweep, line.Index, CleanText(line.Level), CleanText(line.Text))
	}
	sweeps := sweepsOf(logs)
	var added *int64
	err := s.db.InTx(ctx, "add sweep logs", func(_ context.Context, db DB) error {
		// PostgreSQL stores the lines before it runs this query, so its insert statement
		// checks the sweeps itself.
		db.QueueEach(refuseMissing, s.sql.MissingSweeps, List[int64](sweeps))
		added = db.Queue(s.sql.AddSweepLogs, &lines)
		return nil
	})
	if err == nil && *added == 0 { // a sweep was deleted meanwhile
		err = NoSuchSweep(sweeps[0])
	}
	return err
}

// refuseMissing reads the ID of a missing sweep and returns the ErrNotFound for it.
func refuseMissing(row Scanner) error {
	id, err := scanNumber(row)
	if err != nil {
		return err
	}
	return NoSuchSweep(id)
}

// SweepLogs lists log lines, newest first. With a level filter, it queries each level
// separately, so that rare levels are found by their index.
func (s *sweepLogStore) SweepLogs(ctx context.Context, filter sweep.LogFilter) ([]sweep.Log, error) {
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	last := []any{below, page(filter.Limit)}
	if len(filter.Levels) == 0 {
		statement, key := s.sql.SweepLogs, []any{filter.Sweep}
		if filter.Index != nil {
			statement, key = s.sql.ItemLogs, []any{filter.Sweep, *filter.Index}
		}
		return readList(ctx, s.db.Read, "sweep logs", ScanSweepLog, statement, slices.Concat(key, last)...)
	}
	levels := slices.Clone(filter.Levels)
	slices.Sort(levels)
	var found []*[]sweep.Log
	err := s.db.Read(ctx, "sweep logs", func(_ context.Context, db DB) error {
		found = nil
		for _, level := range slices.Compact(slices.Clone(levels)) {
			statement, key := s.sql.LevelLogs, []any{filter.Sweep, level}
			if filter.Index != nil {
				statement, key = s.sql.ItemLevelLogs, []any{filter.Sweep, *filter.Index, level}
			}
			found = append(found, queueList(db, ScanSweepLog, statement, slices.Concat(key, last)...))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var lines []sweep.Log
	for _, some := range found {
		lines = append(lines, *some...)
	}
	slices.SortFunc(lines, func(a, b sweep.Log) int { return cmp.Compare(b.ID, a.ID) })
	return lines[:min(len(lines), page(filter.Limit))], nil
}

// SweepEvents lists the events of a sweep, newest first.
func (s *sweepLogStore) SweepEvents(ctx context.Context, filter sweep.EventFilter) ([]sweep.Event, error) {
	below := filter.Below
	if below <= 0 {
		below = math.MaxInt64
	}
	return readList(ctx, s.db.Read, "sweep events", ScanSweepEvent, s.sql.SweepEvents, filter.Sweep, below, page(filter.Limit))
}

// pruneChunk is the number of lines or events that one transaction removes. It is small
// because other transactions wait for the removal.
const pruneChunk = 500

// PruneSweeps removes old lines and events of finished sweeps, at most limit of each, and
// returns how many it removed.
func (s *sweepLogStore) PruneSweeps(ctx context.Context, age time.Duration, limit int) (total int, err error) {
	if age <= 0 {
		return 0, nil
	}
	for _, of := range []struct{ find, drop string }{{s.sql.OldSweepLogs, s.sql.DropLogs}, {s.sql.OldSweepEvents, s.sql.DropEvents}} {
		for left := limit; left > 0; {
			chunk, found := min(left, pruneChunk), 0
			err := s.db.InTx(ctx, "prune sweeps", func(ctx context.Context, db DB) error {
				old, err := list(ctx, db, scanNumber, of.find, age.Microseconds(), chunk)
				if found = len(old); found > 0 {
					db.Queue(of.drop, List[int64](old))
				}
				return err
			})
			if err != nil {
				return total, err
			}
			total += found
			if left -= found; found < chunk {
				break
			}
		}
	}
	return total, nil
}

// ScanFailedItem reads a failed item from the columns sweep, idx, attempts, error, at and
// again.
func ScanFailedItem(row Scanner) (item sweep.FailedItem, err error) {
	var at int64
	err = row.Scan(&item.Sweep, &item.Index, &item.Attempts, &item.Error, &at, &item.Again)
	item.At = Time(at)
	return item, err
}

// ScanSweepLog reads a log line from the columns id, sweep, idx, level, text and at.
func ScanSweepLog(row Scanner) (line sweep.Log, err error) {
	var at int64
	err = row.Scan(&line.ID, &line.Sweep, &line.Index, &line.Level, &line.Text, &at)
	line.At = Time(at)
	return line, err
}

// ScanSweepEvent reads an event from the columns id, at, actor, action, was, became and note.
func ScanSweepEvent(row Scanner) (event sweep.Event, err error) {
	var at int64
	err = row.Scan(&event.ID, &at, &event.By, &event.Action, &event.From, &event.To, &event.Note)
	event.At = Time(at)
	return event, err
}

// ItemRange returns the index range [first, end) that a filter for failed items selects.
func ItemRange(f sweep.ItemFilter) (first, end int64) {
	first, end = math.MinInt64, math.MaxInt64
	if f.From {
		first = f.After + 1
	}
	if f.Below != 0 {
		end = f.Below
	}
	return first, end
}

// LastOfEach returns the items sorted by index. If several items have the same index, it
// returns only the last of them.
func LastOfEach(items []sweep.FailedItem) []sweep.FailedItem {
	byIndex := make(map[int64]sweep.FailedItem, len(items))
	for _, item := range items {
		byIndex[item.Index] = item
	}
	last := make([]sweep.FailedItem, 0, len(byIndex))
	for _, item := range byIndex {
		last = append(last, item)
	}
	slices.SortFunc(last, func(a, b sweep.FailedItem) int { return cmp.Compare(a.Index, b.Index) })
	return last
}

// sweepsOf returns the distinct sweeps of log lines, sorted.
func sweepsOf(logs []sweep.Log) []int64 {
	var sweeps []int64
	for i := range logs {
		sweeps = append(sweeps, logs[i].Sweep)
	}
	slices.Sort(sweeps)
	return slices.Compact(sweeps)
}
