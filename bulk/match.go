package bulk

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/cause"
)

const (
	// countedAtMost is about how many jobs are counted before a bulk is stored.
	countedAtMost = 100_000
	// looks is how many pages of jobs are looked at to count those of a cause, each of few
	// jobs: they come with all their documents.
	looks        = 200
	lookedAtOnce = 50
)

// about reports whether a job that the filter chooses is one that the bulk is about.
func (b *Bulk) about(job *fairlead.Job) bool {
	return b.Cause == "" || cause.Of(job.Error) == b.Cause
}

// count counts the jobs that a bulk is about. A database cannot compare causes: jobs are
// looked at one by one, and fewer of them.
func (b *Bulk) count(ctx context.Context, store Source) (fairlead.Count, error) {
	if b.Cause == "" {
		return store.TallyUpTo(ctx, b.Filter, countedAtMost)
	}
	filter := b.Filter
	filter.Limit = lookedAtOnce
	count := fairlead.Count{States: map[fairlead.State]int64{}}
	for range looks {
		page, err := store.FindPage(ctx, filter)
		if err != nil {
			return count, err
		}
		for _, job := range page.Jobs {
			if b.about(job) {
				count.States[job.State]++
			}
		}
		if page.Next == 0 {
			return count, nil
		}
		filter.Below = page.Next
	}
	count.More = true
	return count, nil
}
