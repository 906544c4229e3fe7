package bulk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
)

const (
	// stepSize is the number of jobs in a step of a bulk without a rate: few enough that other
	// transactions do not wait noticeably.
	stepSize = 100
	// maxPage limits the number of jobs read at once. pageBytes is the size of a page above
	// which the next page reads fewer jobs.
	maxPage   = 1000
	pageBytes = 4 << 20
	// restShare is the length of the pause after a step, relative to the duration of the step.
	// The pause leaves database time to other work.
	restShare = 0.5
	// reportEvery is the interval at which the job reports its progress. The reports also show
	// that the bulk does not cause the node's crashes.
	reportEvery = time.Second
	// outagePause is the pause after the database did not answer.
	outagePause = 5 * time.Second

	// maxRunning limits the number of bulks that a node runs at once. Bulks that wait for
	// their rate must not take all slots of the node.
	maxRunning = 2

	maxAttempts  = 20
	longestPause = time.Minute
)

// An Observer receives reports on the bulks that run on a node.
type Observer interface {
	// BulkStepped reports the numbers of jobs that a step changed and left unchanged.
	BulkStepped(done, missed int64)
}

// Register adds to mux the handler that carries out the bulks in store.
func Register(mux *fairlead.Mux, store Source, observers ...Observer) {
	options := fairlead.HandlerOptions{
		MaxAttempts: maxAttempts, Retry: fairlead.Exponential(time.Second, longestPause), Timeout: check.MaxPause, MaxRunning: maxRunning,
	}
	mux.Handle(Kind, options, fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		err := (&run{store: store, job: job, observers: observers}).all(ctx)
		switch {
		case errors.Is(err, fairlead.ErrUnavailable) && ctx.Err() == nil:
			return fairlead.SnoozeFor(outagePause)
		case errors.Is(err, fairlead.ErrNotFound): // the bulk was deleted
			return fairlead.Fatal(err)
		}
		return err
	}))
}

// run is one attempt to carry out a bulk.
type run struct {
	store     Source
	job       *fairlead.Job
	observers []Observer
	reported  time.Time

	match    matcher
	page     []*fairlead.Job // found, but not yet processed
	behind   int64           // cursor after the page; zero = the last page
	pageSize int
}

// all performs steps until the bulk has ended or the node shuts down.
func (r *run) all(ctx context.Context) error {
	b, err := get(ctx, r.store, r.job.ID)
	if err != nil {
		return err
	}
	for leaving := fairlead.Leaving(ctx); b.FinishedAt.IsZero(); {
		begun := time.Now()
		step, err := r.next(ctx, &b)
		if err != nil {
			return err
		}
		before := b
		if b, err = r.store.StepBulk(ctx, step); err != nil {
			return err
		}
		if b.Cursor == step.Next {
			for _, observer := range r.observers {
				observer.BulkStepped(b.Done-before.Done, b.Missed-before.Missed)
			}
		} else { // another run has made a step
			r.page = nil
		}
		if err := r.report(ctx, &b); err != nil {
			return err
		}
		pause := time.NewTimer(b.rest(b.Done+b.Missed-before.Done-before.Missed, time.Since(begun)))
		select {
		case <-pause.C:
		case <-leaving:
			pause.Stop()
			return fairlead.Release()
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
	return nil
}

// next returns the next step. It searches for more jobs if none are left from the last
// page.
func (r *run) next(ctx context.Context, b *Bulk) (Step, error) {
	if len(r.page) == 0 {
		if err := r.find(ctx, b); err != nil {
			return Step{}, err
		}
	}
	n := min(b.stepSize(), len(r.page))
	jobs := r.page[:n]
	r.page = r.page[n:]
	step := Step{Bulk: b.ID, Fence: r.job.Fence, Cursor: b.Cursor, Next: r.behind}
	if len(r.page) > 0 {
		step.Next = jobs[n-1].ID
	}
	for _, job := range jobs {
		later := !job.CreatedAt.Before(b.CreatedAt)
		switch {
		case job.ID == b.ID || !r.match.about(job):
		case later && job.ID > b.Newest: // created after the bulk
		case later:
			why := fmt.Sprintf("job %d has a later creation time than the bulk: it was created after the bulk, or the database's clock was set back", job.ID)
			step.GiveUp = append(step.GiveUp, Miss{job.ID, why})
		case job.Kind == Kind:
			step.GiveUp = append(step.GiveUp, Miss{job.ID, fmt.Sprintf("job %d carries out a bulk; stop that bulk instead", job.ID)})
		default:
			step.Jobs = append(step.Jobs, Subject{job.ID, job.Tenant, job.Fence})
		}
	}
	return step, nil
}

// find reads the next jobs. Finding many jobs costs hardly more than finding a few, so it
// reads enough for several steps. It reads fewer if the jobs are large, if they would wait
// long because of the rate, or if the bulk compares errors: by then a job could have run
// again and failed with another error.
func (r *run) find(ctx context.Context, b *Bulk) error {
	filter := b.Filter
	filter.Below, filter.Limit = b.Cursor, max(r.pageSize, b.stepSize())
	page, err := r.store.FindPage(ctx, filter)
	if err == nil {
		r.match, err = b.matcher(ctx, r.store)
	}
	if err != nil {
		return err
	}
	size := 0
	for _, job := range page.Jobs {
		size += len(job.Args) + len(job.Output) + len(job.Memo) + len(job.Progress) + len(job.Error)
	}
	r.page, r.behind, r.pageSize = page.Jobs, page.Next, 0
	if b.Rate <= 0 && b.Cause == "" && size <= pageBytes {
		r.pageSize = min(2*filter.Limit, maxPage)
	}
	return nil
}

// stepSize returns the number of jobs in a step: with a rate, at most those of one second.
func (b *Bulk) stepSize() int {
	if b.Rate <= 0 {
		return stepSize
	}
	return int(min(stepSize, math.Ceil(b.Rate)))
}

// rest returns the pause after a step with this number of jobs.
func (b *Bulk) rest(jobs int64, took time.Duration) time.Duration {
	if !b.FinishedAt.IsZero() {
		return 0
	}
	rest := time.Duration(float64(took) * restShare)
	if b.Rate > 0 {
		rest = max(rest, time.Duration(float64(jobs)/b.Rate*float64(time.Second))-took)
	}
	return rest
}

// report updates the progress of the job at intervals.
func (r *run) report(ctx context.Context, b *Bulk) error {
	if now := time.Now(); now.Sub(r.reported) >= reportEvery {
		r.reported = now
		return fairlead.Progress(ctx, map[string]int64{"done": b.Done, "missed": b.Missed, "matched": b.Matched})
	}
	return nil
}
