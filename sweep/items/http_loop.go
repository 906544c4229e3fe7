package items

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// httpLoop sends items with a loop.
type httpLoop struct {
	httpcall.ItemsLoop
	run   *Run
	items []sweeping.Item // under way, by number
	ended []sweeping.Ended
}

// httpLoop makes a loop if items are sent to a target for which there is one.
func (r *Run) httpLoop(ctx context.Context) sweeping.Loop {
	target := r.handling.Load().http
	if target == nil {
		return nil
	}
	loop := target.call.Loop(ctx)
	if loop == nil {
		return nil
	}
	return &httpLoop{ItemsLoop: loop, run: r}
}

// Begin sends an item, with the data of the sweep as it is now.
func (l *httpLoop) Begin(number int, item sweeping.Item) {
	for number >= len(l.items) {
		l.items = append(l.items, sweeping.Item{})
	}
	l.items[number] = item
	target := l.run.handling.Load().http
	l.ItemsLoop.Begin(target.call, number, httpcall.CallItem{Index: item.Index, Attempt: item.Attempt, Data: target.dataOf(item.Data)})
}

// Wait returns what became of items.
func (l *httpLoop) Wait(most time.Duration) []sweeping.Ended {
	l.ended = l.ended[:0]
	var outcome [1]sweeping.Outcome
	for _, end := range l.ItemsLoop.Wait(most) {
		outcome[0] = sweeping.Outcome{}
		settle(end.Reply, end.Err, l.items[end.Number:end.Number+1], outcome[:])
		if outcome[0].Verdict == sweeping.Abandon {
			l.run.afford(&outcome[0])
		}
		l.ended = append(l.ended, sweeping.Ended{Number: end.Number, Outcome: outcome[0]})
	}
	return l.ended
}
