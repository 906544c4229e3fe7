package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

const (
	pageBytes = 8 << 20 // of documents on a page of jobs, about
	firstLook = 8       // jobs, by which the size of the others is guessed
)

// findPage returns a page of jobs. A job may have megabytes, so the page ends early if
// its jobs are large, and says as always where the next one begins.
func findPage(ctx context.Context, client *fairlead.Client, filter fairlead.Filter) (page fairlead.Page, err error) {
	wanted, size := filter.Limit, 0
	if wanted <= 0 {
		wanted = fairlead.DefaultPage
	}
	for look := firstLook; ; look = max(1, (pageBytes-size)*len(page.Jobs)/max(1, size)) {
		filter.Limit = min(look, wanted-len(page.Jobs))
		part, err := client.Find(ctx, filter)
		if err != nil {
			return fairlead.Page{}, err
		}
		page.Jobs, page.Next = append(page.Jobs, part.Jobs...), part.Next
		size += documents(part.Jobs)
		if page.Next == 0 || len(page.Jobs) == wanted || size >= pageBytes {
			return page, nil
		}
		filter.Below = page.Next
	}
}

// documents returns how many bytes the documents of jobs have.
func documents(jobs []*fairlead.Job) (bytes int) {
	for _, job := range jobs {
		bytes += len(job.Args) + len(job.Output) + len(job.Progress) + len(job.Told) + len(job.Memo) + len(job.Error)
	}
	return bytes
}
