package sqlstore

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// Found is a page of jobs.
type Found struct {
	fairlead.Page
	Unnamed map[*fairlead.Job]int32 // jobs with uncached lanes, which the store must look up
}

// pageBudget limits the number of jobs of one place that a page reads to find a match.
const pageBudget = 50_000

// Page implements FindPage with bounded cost. It searches a window of IDs that is small enough
// that no place has more rows in it than one look may read. If the window has few matches, the
// page is short and contains the start of the next page. If the window has no matches, Page
// continues through an index with few candidates or through larger windows.
func (q *Query) Page(ctx context.Context, ask Ask, filter fairlead.Filter) (Found, error) {
	filter.Limit = pageOf(filter)
	lanes, all := q.Lanes.Matching(filter)
	switch {
	case !all && len(lanes) == 0:
		return Found{}, nil
	case len(filter.IDs) > 0:
		return q.look(ctx, ask, filter, Window{}, 0)
	}
	bounds, err := q.createdBounds(ctx, ask, filter)
	if err != nil {
		return Found{}, err
	}
	if filter.Key != "" {
		return q.pageOfKey(ctx, ask, filter, bounds)
	}
	size := lookSize(filter)
	for read := 0; ; size = size.further(filter) {
		within, more, err := q.frame(ctx, ask, filter, bounds, size, false)
		if err != nil {
			return Found{}, err
		}
		next := int64(0)
		if more {
			next = within.From
		}
		found, err := q.look(ctx, ask, filter, within, next)
		if read += size.read(filter); err != nil || len(found.Jobs) > 0 || found.Next == 0 || read >= pageBudget {
			return found, err
		}
		filter.Below = found.Next
	}
}

// look reads the jobs of a window. If there are more jobs, the next page begins after the
// last job; otherwise it begins at the end of the window.
func (q *Query) look(ctx context.Context, ask Ask, filter fairlead.Filter, within Window, next int64) (Found, error) {
	limit := filter.Limit
	filter.Limit++ // one more shows whether there is a next page
	found := Found{Page: fairlead.Page{Next: next}, Unnamed: map[*fairlead.Job]int32{}}
	text, args := q.Find(filter, within)
	if text == "" {
		return Found{}, nil
	}
	err := ask(ctx, text, args, Collect(ctx, &found.Jobs, func(row Scanner) (*fairlead.Job, error) {
		job, lane, err := q.ScanJob(row)
		if err == nil && job.Kind == "" {
			found.Unnamed[job] = lane
		}
		return job, err
	}))
	if err != nil {
		return Found{}, err
	}
	if len(found.Jobs) > limit {
		delete(found.Unnamed, found.Jobs[limit])
		found.Jobs = found.Jobs[:limit]
		found.Next = found.Jobs[limit-1].ID
	} else if paged.From(ctx).Cut() {
		found.Next = found.Jobs[len(found.Jobs)-1].ID
	}
	return found, nil
}

// keySlack is the number of jobs with a key that are read in addition to a full page.
const keySlack = 5

// pageOfKey finds the newest jobs with a key, which may be numerous, and filters them.
func (q *Query) pageOfKey(ctx context.Context, ask Ask, filter fairlead.Filter, bounds Window) (Found, error) {
	limit := filter.Limit + keySlack
	b := queryBuilder{Query: q, filter: filter, within: bounds}
	key := b.arg(filter.Key)
	where := " where job_key = " + key
	for _, condition := range b.ids("id") {
		where += " and " + condition
	}
	var ids []int64
	err := ask(ctx, q.expand("select id from {{job}}"+where+" order by id desc limit "+numbers([]int{limit})), b.args, func(row Scanner) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) == 0 {
		return Found{}, err
	}
	next := int64(0)
	if len(ids) == limit {
		next = slices.Min(ids)
	}
	filter.Key, filter.IDs = "", ids
	return q.look(ctx, ask, filter, Window{}, next)
}

// FindAll implements Find by reading pages until it has found the requested number of jobs.
func FindAll(ctx context.Context, filter fairlead.Filter, page func(context.Context, fairlead.Filter) (fairlead.Page, error)) ([]*fairlead.Job, error) {
	ctx = paged.Unbounded(ctx)
	var jobs []*fairlead.Job
	limit := pageOf(filter)
	for {
		filter.Limit = limit - len(jobs)
		found, err := page(ctx, filter)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, found.Jobs...)
		if found.Next == 0 || len(jobs) >= limit {
			return jobs, nil
		}
		filter.Below = found.Next
	}
}
