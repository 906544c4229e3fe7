package sqlstore

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead/sweep"
)

// ScanFailedItem reads sweep, idx, attempts, error, at and again.
func ScanFailedItem(row Scanner) (item sweep.FailedItem, err error) {
	var at int64
	err = row.Scan(&item.Sweep, &item.Index, &item.Attempts, &item.Error, &at, &item.Again)
	item.At = Time(at)
	return item, err
}

// ScanSweepLog reads id, sweep, idx, level, text and at.
func ScanSweepLog(row Scanner) (line sweep.Log, err error) {
	var at int64
	err = row.Scan(&line.ID, &line.Sweep, &line.Index, &line.Level, &line.Text, &at)
	line.At = Time(at)
	return line, err
}

// ScanSweepEvent reads id, at, actor, action, was, became and note.
func ScanSweepEvent(row Scanner) (event sweep.Event, err error) {
	var at int64
	err = row.Scan(&event.ID, &at, &event.By, &event.Action, &event.From, &event.To, &event.Note)
	event.At = Time(at)
	return event, err
}

// ItemRange is the indexes [first, end) that a filter of failed items lets through.
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

// LastOfEach are items in the order of their indexes; of several with one index the
// last.
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

// SweepsOf are the sweeps that lines are about, each once, in order.
func SweepsOf(logs []sweep.Log) []int64 {
	var sweeps []int64
	for i := range logs {
		sweeps = append(sweeps, logs[i].Sweep)
	}
	slices.Sort(sweeps)
	return slices.Compact(sweeps)
}

// LinesByLevel lists lines of some levels, newest first, each level by itself: one of
// which there are few is then found by its index.
func LinesByLevel(filter sweep.LogFilter, list func(level string) ([]sweep.Log, error)) ([]sweep.Log, error) {
	var lines []sweep.Log
	levels := slices.Clone(filter.Levels)
	slices.Sort(levels)
	for _, level := range slices.Compact(levels) {
		found, err := list(level)
		if err != nil {
			return nil, err
		}
		lines = append(lines, found...)
	}
	slices.SortFunc(lines, func(a, b sweep.Log) int { return cmp.Compare(b.ID, a.ID) })
	return lines[:min(len(lines), LogPage(filter))], nil
}
