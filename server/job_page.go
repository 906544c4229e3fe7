package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/server/internal/overload"
)

const (
	// firstLook is the number of jobs that a page reads first, to estimate the size of the
	// others. A database sends everything that a query selects, even if the page ends early.
	firstLook = 8
	// shortLooks is the number of queries with few results after which a page ends: each of
	// them has scanned very many jobs.
	shortLooks = 2
)

// findPage returns a page of jobs. A job may have megabytes of documents, so the page ends
// early if its jobs are large or hard to find; its Next is set as usual.
func findPage(ctx context.Context, client *fairlead.Client, filter fairlead.Filter) (page fairlead.Page, err error) {
	wanted, size := filter.Limit, 0
	if wanted <= 0 {
		wanted = fairlead.DefaultPage
	}
	short := 0 // number of queries with fewer results than requested
	for look := firstLook; ; look = nextLook(wanted, size, len(page.Jobs)) {
		filter.Limit = min(look, wanted-len(page.Jobs))
		bounded, bound := paged.Within(ctx, overload.PageBytes-size)
		part, err := client.Find(bounded, filter)
		if err != nil {
			return fairlead.Page{}, err
		}
		page.Jobs, page.Next = append(page.Jobs, part.Jobs...), part.Next
		size += documents(part.Jobs)
		if len(part.Jobs) < filter.Limit {
			short++
		}
		if page.Next == 0 || len(page.Jobs) == wanted || bound.Cut() || size >= overload.PageBytes || short == shortLooks {
			return page, nil
		}
		filter.Below = page.Next
	}
}

// lookGrowth limits the size of a query to this multiple of all queries before it: the next
// jobs may be much larger than those found so far.
const lookGrowth = 8

// nextLook returns the number of further jobs that fit, if they are as large as those
// before.
func nextLook(wanted, size, jobs int) int {
	if size == 0 {
		return wanted
	}
	return max(1, min(lookGrowth*jobs, (overload.PageBytes-size)*jobs/size))
}

// documents returns the total size of the documents of jobs.
func documents(jobs []*fairlead.Job) (bytes int) {
	for _, job := range jobs {
		bytes += len(job.Args) + len(job.Output) + len(job.Progress) + len(job.Told) + len(job.Memo) + len(job.Error)
	}
	return bytes
}
