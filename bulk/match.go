package bulk

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/cause"
	"github.com/fairlead-io/fairlead/internal/mask"
)

const (
	// countedAtMost limits the number of jobs counted before a bulk is stored.
	countedAtMost = 100_000
	// looks limits the number of pages that are read to count the jobs of a cause. A page has
	// few jobs because they are read with all their documents.
	looks        = 200
	lookedAtOnce = 50
)

// A matcher decides which of the jobs selected by the filter a bulk applies to.
type matcher struct {
	cause        string
	confidential fairlead.Confidential
}

// matcher returns the matcher of the bulk. It reads the confidential fields if errors are
// to be compared.
func (b *Bulk) matcher(ctx context.Context, store Source) (m matcher, err error) {
	if m.cause = b.Cause; m.cause != "" {
		m.confidential, err = store.Confidential(ctx)
	}
	return m, err
}

// about reports whether the bulk applies to a job. It compares errors as callers see them,
// with confidential fields masked. Otherwise the number of matches could confirm a guess
// about a confidential field.
func (m *matcher) about(job *fairlead.Job) bool {
	if m.cause == "" {
		return true
	}
	shown := mask.Show(mask.Fields(m.confidential, job.Kind, job.Args), mask.Job{Args: job.Args, Output: job.Output, Progress: job.Progress, Reported: job.Told, Memo: job.Memo, Error: job.Error})
	return cause.Of(shown.Error) == m.cause
}

// count counts the jobs that a bulk applies to. The database cannot compare causes, so with
// a cause the method reads the jobs one by one, and fewer of them.
func (b *Bulk) count(ctx context.Context, store Source) (fairlead.Count, error) {
	if b.Cause == "" {
		return store.TallyUpTo(ctx, b.Filter, countedAtMost)
	}
	filter := b.Filter
	filter.Limit = lookedAtOnce
	count := fairlead.Count{States: map[fairlead.State]int64{}}
	match, err := b.matcher(ctx, store)
	if err != nil {
		return count, err
	}
	for range looks {
		page, err := store.FindPage(ctx, filter)
		if err != nil {
			return count, err
		}
		for _, job := range page.Jobs {
			if match.about(job) {
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
