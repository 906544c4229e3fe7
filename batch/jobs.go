package batch

import (
	"context"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
)

const (
	partsPerLook = 4  // that are read at once to find jobs of tasks
	looksPerPage = 50 // after which a page ends, however few jobs it has
)

// JobFilter chooses jobs of the tasks of a batch.
type JobFilter struct {
	Batch int64
	Below int64 // only IDs smaller than this: Next of the page before
	Limit int   // zero means 100
}

// JobPage is one page of the IDs of jobs.
type JobPage struct {
	IDs  []int64 // largest first
	Next int64   // JobFilter.Below of the next page; zero if this is the last
}

// Jobs returns the IDs of the jobs that were made of the tasks of a batch, in every pass,
// largest first. Some of the jobs may have been removed since. A page may have fewer than
// the filter's limit, or none, and still have a next one: where very many tasks have not
// been released yet, each page looks at some of them. It fails with ErrNotFound if there
// is no such batch.
func (c *Client) Jobs(ctx context.Context, filter JobFilter) (JobPage, error) {
	batch, err := c.Get(ctx, filter.Batch)
	if err != nil {
		return JobPage{}, err
	}
	l := &jobList{store: c.store, batch: batch.ID, below: filter.Below, limit: filter.Limit}
	if l.below <= 0 {
		l.below = math.MaxInt64
	}
	if l.limit <= 0 {
		l.limit = fairlead.DefaultPage
	}
	for _, pass := range slices.Backward(batch.Passes) { // IDs grow from pass to pass
		if full, err := l.addPass(ctx, pass); err != nil || full {
			return l.page, err
		}
	}
	return l.page, nil
}

// jobList is a page of IDs in the making.
type jobList struct {
	store Store
	batch int64
	below int64 // all IDs from here on were looked at
	limit int
	looks int
	page  JobPage
}

// addPass adds the jobs of a pass, and reports whether the page ends there.
func (l *jobList) addPass(ctx context.Context, pass Pass) (full bool, err error) {
	first := pass.Number * partsPerPass
	end, err := l.end(ctx, pass)
	if err != nil {
		return false, err
	}
	for end > first {
		if l.looks == looksPerPage {
			l.page.Next = l.below
			return true, nil
		}
		l.looks++
		var numbers []int
		for number := max(first, end-partsPerLook); number < end; number++ {
			numbers = append(numbers, number)
		}
		parts, err := l.store.Parts(ctx, l.batch, PartFilter{Numbers: numbers, Kind: pass.Kind})
		if err != nil {
			return false, err
		}
		for i := range slices.Backward(parts) {
			if l.addPart(&parts[i]) {
				return true, nil
			}
		}
		end = numbers[0]
	}
	return false, nil
}

// addPart adds the jobs of a chunk, and reports whether there are more than the page may
// have.
func (l *jobList) addPart(part *Part) (full bool) {
	for i, mark := range slices.Backward(part.States) {
		id := part.First + int64(i)
		if id >= l.below || mark == MarkHeld {
			continue
		}
		if len(l.page.IDs) == l.limit {
			l.page.Next = l.page.IDs[l.limit-1]
			return true
		}
		l.page.IDs = append(l.page.IDs, id)
	}
	l.below = min(l.below, part.First)
	return false
}

// end is the number of the first chunk of a pass that has no ID below, or the one behind
// its last chunk: IDs grow with the numbers of the chunks.
func (l *jobList) end(ctx context.Context, pass Pass) (int, error) {
	low := pass.Number * partsPerPass
	high := low + pass.Tasks // each chunk has a task
	for low < high {
		middle := (low + high) / 2
		parts, err := l.store.Parts(ctx, l.batch, PartFilter{After: middle - 1, Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(parts) > 0 && parts[0].Pass == pass.Number && parts[0].Kind == pass.Kind && parts[0].First < l.below {
			low = parts[0].Number + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
