package paged

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// bareBytes limits the documents of jobs read at once, although Bare needs no documents.
const bareBytes = 1 << 20

// finder is a store of jobs.
type finder interface {
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
}

// Bare returns the jobs with the given IDs, newest first. It removes their documents, which
// may be far larger than all other fields.
func Bare(ctx context.Context, store finder, ids []int64) (jobs []*fairlead.Job, err error) {
	for below := int64(0); len(ids) > 0; {
		bounded, _ := Within(ctx, bareBytes)
		page, err := store.FindPage(bounded, fairlead.Filter{IDs: ids, Below: below, Limit: len(ids)})
		if err != nil {
			return nil, err
		}
		for _, job := range page.Jobs {
			job.Args, job.Output, job.Progress, job.Told, job.Memo = nil, nil, nil, nil, nil
		}
		jobs = append(jobs, page.Jobs...)
		if below = page.Next; below == 0 {
			break
		}
	}
	return jobs, nil
}
