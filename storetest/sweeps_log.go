package storetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// indexesOf returns the indexes of failed items.
func indexesOf(items []sweep.FailedItem) []int64 {
	list := make([]int64, len(items))
	for i, item := range items {
		list[i] = item.Index
	}
	return list
}

func testFailedItems(c *chapter) {
	c.test("FailedItems lists by index the items that came to nothing", func(f *fixture) {
		s, job := f.sweeping()
		other, another := f.sweeping(func(s *sweep.Sweep) { s.Name = "other" })
		earlier := f.now().Add(-time.Minute)
		f.note(s, job, sweep.FailedItem{Index: 900_000_000_000_000_000, Attempts: 5, Error: "lost"}, sweep.FailedItem{Index: 0, Attempts: 1, Error: "bad\x00 é", At: earlier})
		f.note(other, another, sweep.FailedItem{Index: 7})
		f.equal("the items", f.failed(sweep.ItemFilter{Sweep: s.ID}), []sweep.FailedItem{
			{Sweep: s.ID, Index: 0, Attempts: 1, Error: "bad\uFFFD é", At: earlier},
			{Sweep: s.ID, Index: 900_000_000_000_000_000, Attempts: 5, Error: "lost", At: f.now()},
		})
		f.equal("the items of none", len(f.failed(sweep.ItemFilter{Sweep: unknown})), 0)
	})
	c.test("an item that is known is replaced", func(f *fixture) {
		s, job := f.sweeping()
		f.note(s, job, sweep.FailedItem{Index: 3, Attempts: 1, Error: "first"}, sweep.FailedItem{Index: 4})
		f.Advance(time.Second)
		f.note(s, job, sweep.FailedItem{Index: 3, Attempts: 2, Error: "second"}, sweep.FailedItem{Index: 5}, sweep.FailedItem{Index: 3, Attempts: 3, Error: "third"})
		items := f.failed(sweep.ItemFilter{Sweep: s.ID})
		f.equal("the indexes", indexesOf(items), []int64{3, 4, 5})
		f.equal("the item", items[0], sweep.FailedItem{Sweep: s.ID, Index: 3, Attempts: 3, Error: "third", At: f.now()})
	})
	c.test("FailedItems goes on behind an index", func(f *fixture) {
		s, job := f.sweeping()
		var items []sweep.FailedItem
		for i := range 150 {
			items = append(items, sweep.FailedItem{Index: int64(i)})
		}
		f.note(s, job, items...)
		f.equal("a page", len(f.failed(sweep.ItemFilter{Sweep: s.ID})), 100)
		f.equal("the first", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, Limit: 2})), []int64{0, 1})
		f.equal("those behind the first", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, From: true, Limit: 2})), []int64{1, 2})
		f.equal("the last", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, From: true, After: 147})), []int64{148, 149})
		f.equal("those below one", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, From: true, After: 10, Below: 13})), []int64{11, 12})
	})
}

func testSweepLogs(c *chapter) {
	texts := func(logs []sweep.Log) string {
		list := make([]string, len(logs))
		for i, line := range logs {
			list[i] = line.Text
		}
		return strings.Join(list, " ")
	}
	c.test("AddSweepLogs stores lines, SweepLogs lists them, newest first", func(f *fixture) {
		s, other := f.sweep("s"), f.sweep("other")
		f.ok(f.store.AddSweepLogs(f.ctx(), []sweep.Log{
			{Sweep: s.ID, Index: 900_000_000_000_000_000, Level: "info", Text: "first\x00 é"}, {Sweep: other.ID, Text: "else"},
		}))
		earlier := f.now()
		f.Advance(time.Second)
		f.ok(f.elsewhere().store.AddSweepLogs(f.ctx(), []sweep.Log{{Sweep: s.ID, Index: -1, Level: "error", Text: "second"}}))
		logs := f.logs(sweep.LogFilter{Sweep: s.ID})
		f.equal("the lines", logs, []sweep.Log{
			{ID: logs[0].ID, Sweep: s.ID, Index: -1, Level: "error", Text: "second", At: f.now()},
			{ID: logs[1].ID, Sweep: s.ID, Index: 900_000_000_000_000_000, Level: "info", Text: "first\uFFFD é", At: earlier},
		})
		f.ok(f.store.AddSweepLogs(f.ctx(), nil))
	})
	c.test("AddSweepLogs stores all lines or none, and fails with ErrNotFound if there is no such sweep", func(f *fixture) {
		s := f.sweep("s")
		f.wantErr(f.store.AddSweepLogs(f.ctx(), []sweep.Log{{Sweep: s.ID, Text: "a"}, {Sweep: unknown, Text: "b"}}), fairlead.ErrNotFound)
		f.equal("the lines", len(f.logs(sweep.LogFilter{Sweep: s.ID})), 0)
		f.equal("the lines of none", len(f.logs(sweep.LogFilter{Sweep: unknown})), 0)
	})
	c.test("a filter chooses lines by level and index, a page at a time", func(f *fixture) {
		s := f.sweep("s")
		var logs []sweep.Log
		for i := range 9 {
			logs = append(logs, sweep.Log{Sweep: s.ID, Index: int64(i % 2), Level: []string{"debug", "info", "error"}[i%3], Text: fmt.Sprint(i)})
		}
		f.ok(f.store.AddSweepLogs(f.ctx(), logs))
		one := int64(1)
		f.equal("by level", texts(f.logs(sweep.LogFilter{Sweep: s.ID, Levels: []string{"debug", "error", "none"}})), "8 6 5 3 2 0")
		f.equal("by index", texts(f.logs(sweep.LogFilter{Sweep: s.ID, Index: &one})), "7 5 3 1")
		f.equal("by both", texts(f.logs(sweep.LogFilter{Sweep: s.ID, Index: &one, Levels: []string{"debug"}})), "3")
		first := f.logs(sweep.LogFilter{Sweep: s.ID, Limit: 4})
		f.equal("a page", texts(first), "8 7 6 5")
		f.equal("the next page", texts(f.logs(sweep.LogFilter{Sweep: s.ID, Limit: 4, Below: first[3].ID})), "4 3 2 1")
		f.equal("the next page of a level", texts(f.logs(sweep.LogFilter{Sweep: s.ID, Levels: []string{"info"}, Below: first[3].ID})), "4 1")
	})
	c.test("Prune removes old lines and events of sweeps that have finished, at most limit of each, and counts them", func(f *fixture) {
		stopped := f.sweep("stopped", inState(sweep.Stopped)) // its log lines are older than those of the other sweep
		finished := f.sweep("finished", inState(sweep.Finished))
		note := func(text string) {
			for _, s := range []sweep.Sweep{finished, stopped} {
				f.ok(f.store.AddSweepLogs(f.ctx(), []sweep.Log{{Sweep: s.ID, Text: text}}))
				f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
					return tx.Record(ctx, sweep.Event{Action: text})
				})
			}
		}
		prune := func(keep driver.Retention, limit, removed, want int) {
			f.Helper()
			n, err := f.store.Prune(f.ctx(), keep, limit)
			f.ok(err)
			f.equal("how many were removed", n, removed)
			f.equal("the lines", len(f.logs(sweep.LogFilter{Sweep: finished.ID})), want)
			f.equal("the events", len(f.events(finished.ID)), want)
			f.equal("the lines of the other", len(f.logs(sweep.LogFilter{Sweep: stopped.ID})), 4)
			f.equal("the events of the other", len(f.events(stopped.ID)), 4)
		}
		for range 3 {
			note("old")
		}
		f.Advance(time.Hour)
		note("new")
		prune(driver.Retention{Succeeded: time.Minute, Cancelled: time.Minute, Skipped: time.Minute}, 100, 0, 4)
		prune(driver.Retention{Failed: 2 * time.Hour}, 100, 0, 4)
		prune(driver.Retention{Failed: time.Minute}, 2, 4, 2)
		prune(driver.Retention{Failed: time.Minute}, 2, 2, 1)
		prune(driver.Retention{Failed: time.Minute}, 2, 0, 1)
		f.equal("the line that is left", texts(f.logs(sweep.LogFilter{Sweep: finished.ID})), "new")
	})
}
