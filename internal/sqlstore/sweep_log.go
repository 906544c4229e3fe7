package sqlstore

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// ScanFailedItem reads sweep, idx, attempts, error and at.
func ScanFailedItem(row Scanner) (item fairlead.FailedItem, err error) {
	var at int64
	err = row.Scan(&item.Sweep, &item.Index, &item.Attempts, &item.Error, &at)
	item.At = Time(at)
	return item, err
}

// ScanSweepLog reads id, sweep, idx, level, text and at.
func ScanSweepLog(row Scanner) (line fairlead.SweepLog, err error) {
	var at int64
	err = row.Scan(&line.ID, &line.Sweep, &line.Index, &line.Level, &line.Text, &at)
	line.At = Time(at)
	return line, err
}

// ScanSweepEvent reads id, at, actor, action, was, became and note.
func ScanSweepEvent(row Scanner) (event fairlead.SweepEvent, err error) {
	var at int64
	err = row.Scan(&event.ID, &at, &event.By, &event.Action, &event.From, &event.To, &event.Note)
	event.At = Time(at)
	return event, err
}

// LastOfEach are items in the order of their indexes; of several with one index the
// last.
func LastOfEach(items []fairlead.FailedItem) []fairlead.FailedItem {
	byIndex := make(map[int64]fairlead.FailedItem, len(items))
	for _, item := range items {
		byIndex[item.Index] = item
	}
	last := make([]fairlead.FailedItem, 0, len(byIndex))
	for _, item := range byIndex {
		last = append(last, item)
	}
	slices.SortFunc(last, func(a, b fairlead.FailedItem) int { return cmp.Compare(a.Index, b.Index) })
	return last
}

// SweepsOf are the sweeps that lines are about, each once, in order.
func SweepsOf(logs []fairlead.SweepLog) []int64 {
	var sweeps []int64
	for i := range logs {
		sweeps = append(sweeps, logs[i].Sweep)
	}
	slices.Sort(sweeps)
	return slices.Compact(sweeps)
}
