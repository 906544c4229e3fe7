package batch

import (
	"context"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
)

const (
	chunksPerLook = 4  // that are read at once to find jobs of tasks
	looksPerPage  = 50 // after which a page ends, however few jobs it has
)

// JobFilter selects jobs created for a batch's tasks.
type JobFilter struct {
	Batch int64
	Below int64 // only IDs below this one: Next of the previous page
	Limit int   // maximum number of IDs; zero means 100
}

// JobPage is a page of job IDs.
type JobPage struct {
	IDs  []int64 // largest first
	Next int64   // value for JobFilter.Below to get the next page; zero on the last page
}

// Jobs returns the IDs of the jobs created for a batch's tasks in all passes, largest ID
// first. Some of these jobs may have been removed since. Each call examines a bounded number
// of tasks. If a large number of tasks have not been released yet, a page may contain fewer
// jobs than the filter's limit, or none, even though there is a next page. Jobs returns
// ErrNotFound if the batch does not exist.
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
	first := pass.Number * chunksPerPass
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
		for number := max(first, end-chunksPerLook); number < end; number++ {
			numbers = append(numbers, number)
		}
		chunks, err := l.store.Chunks(ctx, l.batch, ChunkFilter{Numbers: numbers, Kind: pass.Kind})
		if err != nil {
			return false, err
		}
		for i := range slices.Backward(chunks) {
			if l.addChunk(&chunks[i]) {
				return true, nil
			}
		}
		end = numbers[0]
	}
	return false, nil
}

// addChunk adds the jobs of a chunk, and reports whether there are more than the page may
// have.
func (l *jobList) addChunk(chunk *Chunk) (full bool) {
	for i, mark := range slices.Backward(chunk.States) {
		id := chunk.First + int64(i)
		if id >= l.below || mark == MarkHeld {
			continue
		}
		if len(l.page.IDs) == l.limit {
			l.page.Next = l.page.IDs[l.limit-1]
			return true
		}
		l.page.IDs = append(l.page.IDs, id)
	}
	l.below = min(l.below, chunk.First)
	return false
}

// end is the number of the first chunk of a pass that has no ID below, or the one behind
// its last chunk: IDs grow with the numbers of the chunks.
func (l *jobList) end(ctx context.Context, pass Pass) (int, error) {
	low := pass.Number * chunksPerPass
	high := low + pass.Tasks // each chunk has a task
	for low < high {
		middle := (low + high) / 2
		chunks, err := l.store.Chunks(ctx, l.batch, ChunkFilter{After: middle - 1, Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(chunks) > 0 && chunks[0].Pass == pass.Number && chunks[0].Kind == pass.Kind && chunks[0].First < l.below {
			low = chunks[0].Number + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
