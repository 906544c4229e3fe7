package batch

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// bareBytes bounds the documents of jobs that are read at once, though none is needed.
const bareBytes = 1 << 20

// findBare returns jobs by their IDs, newest first and without their documents, which may
// be far larger than all that is said of a batch.
func findBare(ctx context.Context, store Store, ids []int64) (jobs []*fairlead.Job, err error) {
	for below := int64(0); len(ids) > 0; {
		bounded, _ := paged.Within(ctx, bareBytes)
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
