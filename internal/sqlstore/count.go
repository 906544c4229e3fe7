package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

const (
	// countWindow is how many rows of a place one statement of an exact count reads:
	// few enough that it ends soon.
	countWindow = 50_000
	// leastWindow and leastLive are the least numbers of ended and of live rows that a
	// count which may stop reads at once. Live rows are few, and nearly all of them
	// match the filter.
	leastWindow = 50
	leastLive   = 1000
	// leastEnds is how many recently ended jobs a count reads by their end times.
	leastEnds = 300
	// readsPerJob is how many rows a count that may stop reads for each job that it may
	// count.
	readsPerJob = 2
)

// Count implements Count. It goes from window to window until it has counted atMost
// jobs or read its share of rows; if atMost is zero, until it has counted all.
func (q *Query) Count(ctx context.Context, ask Ask, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	count := fairlead.Count{States: map[fairlead.State]int64{}}
	add := func(row Scanner) error {
		var state string
		var n int64
		err := row.Scan(&state, &n)
		count.States[fairlead.State(state)] += n
		return err
	}
	tally := func(within Window) error {
		text, args := q.Tally(filter, within)
		if text == "" {
			return nil
		}
		return ask(ctx, text, args, add)
	}
	lanes, all := q.Lanes.Matching(filter)
	switch {
	case !all && len(lanes) == 0:
		return count, nil
	case len(filter.IDs) > 0, filter.Key != "" && atMost == 0, atMost == 0 && !q.passesOver(filter, lanes):
		return count, tally(Window{})
	case filter.Key != "":
		return q.countKey(ctx, ask, filter, atMost)
	}
	bounds, err := q.createdBounds(ctx, ask, filter)
	if err != nil {
		return count, err
	}
	size := looks{done: countWindow, live: countWindow, mass: countWindow, ends: countWindow}
	if atMost > 0 {
		size = looks{done: int(max(leastWindow, atMost)), live: int(max(leastLive, atMost)), mass: int(max(leastLive, atMost)), ends: int(max(leastLive, readsPerJob*atMost))}
	}
	rows := int64(size.live)
	if len(placeOfEnded.asked(filter)) > 0 {
		rows = int64(size.done)
	}
	for read := int64(0); ; {
		within, more, err := q.frame(ctx, ask, filter, bounds, size, true)
		if err != nil {
			return count, err
		}
		if err := tally(within); err != nil || !more {
			return count, err
		}
		read += rows
		if atMost > 0 && (count.Total() >= atMost || read >= readsPerJob*atMost) {
			count.More = true
			return count, nil
		}
		filter.Below = within.From
	}
}

// passesOver reports whether a count passes over ended jobs that do not match. If it
// does not, an index alone can count.
func (q *Query) passesOver(filter fairlead.Filter, lanes []int32) bool {
	ended := len(placeOfEnded.asked(filter)) > 0
	return ended && (lanes != nil || !filter.From.IsZero() || !filter.To.IsZero())
}

// countKey counts jobs with a key a page at a time. Each job has to be looked up in
// every place, so it stops at half as many.
func (q *Query) countKey(ctx context.Context, ask Ask, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	const largest = 500
	count := fairlead.Count{States: map[fairlead.State]int64{}}
	atMost = max(1, atMost/2)
	filter.Limit = int(min(atMost, largest))
	for looked := int64(0); ; {
		page, err := q.Page(ctx, ask, filter)
		if err != nil {
			return count, err
		}
		for _, job := range page.Jobs {
			count.States[job.State]++
		}
		looked += int64(filter.Limit)
		if count.More = page.Next != 0; !count.More || looked >= atMost {
			return count, nil
		}
		filter.Below = page.Next
	}
}
