package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

const (
	// countWindow is the number of rows of a place table that one statement of an exact
	// count reads. It is small enough for the statement to finish quickly.
	countWindow = 50_000
	// leastWindow and leastLive are the minimum numbers of ended and live rows that a
	// limited count reads at once. Live rows are few, and nearly all of them match the
	// filter.
	leastWindow = 50
	leastLive   = 1000
	// leastEnds is the number of recently ended jobs that a count reads by end time.
	leastEnds = 300
	// readsPerJob is the number of rows that a limited count reads for each job that it may
	// count.
	readsPerJob = 2
)

// Count returns the number of jobs that match the filter. It counts window by window until it
// has counted atMost jobs or has read its share of rows. If atMost is 0, it counts all
// matching jobs.
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
	case q.FailedLanes && atMost > 0 && failedByLane(filter) && len(lanes) <= mostFailedLanes:
		return q.countFailed(ctx, ask, lanes, atMost)
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

// passesOver reports whether a count reads ended jobs that do not match. If not, an index
// alone is enough to count.
func (q *Query) passesOver(filter fairlead.Filter, lanes []int32) bool {
	ended := len(placeOfEnded.asked(filter)) > 0
	return ended && (lanes != nil || !filter.From.IsZero() || !filter.To.IsZero())
}

// countKey counts jobs with a key page by page. Each job must be looked up in every place
// table, so the limit is halved.
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

// mostFailedLanes limits the lanes that are looked up in the index of failed jobs.
const mostFailedLanes = 5_000

// failedByLane reports whether a filter selects failed jobs by queue, tenant and kind alone.
func failedByLane(f fairlead.Filter) bool {
	return len(f.States) == 1 && f.States[0] == fairlead.Failed && f.From.IsZero() && f.To.IsZero() && f.FinishedFrom.IsZero() && f.Below == 0 && f.OnFail == ""
}

// countFailed counts the failed jobs of lanes in their index, up to atMost.
func (q *Query) countFailed(ctx context.Context, ask Ask, lanes []int32, atMost int64) (fairlead.Count, error) {
	count := fairlead.Count{States: map[fairlead.State]int64{}}
	where := ""
	if lanes != nil {
		where = " and p.lane in (" + numbers(lanes) + ")"
	}
	var n int64
	statement := fmt.Sprintf("select count(*) from (select 1 as one from {{done}} p%s where p.outcome = 2 and p.lane > 0%s limit %d) m", q.ByFailedLane, where, atMost+1)
	err := ask(ctx, q.expand(statement), nil, func(row Scanner) error { return row.Scan(&n) })
	if count.More = n > atMost; count.More {
		n = atMost
	}
	if n > 0 {
		count.States[fairlead.Failed] = n
	}
	return count, err
}
