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
	// stepSize is how many jobs a step without a rate acts upon: few enough that other
	// transactions do not wait for it noticeably.
	stepSize = 100
	// maxPage is how many jobs are found at once at most, and pageBytes what they may carry
	// for as many to be found again.
	maxPage   = 1000
	pageBytes = 4 << 20
	// restShare is how much of the time that a step took the bulk rests before the next, so
	// that others get at the database.
	restShare = 0.5
	// reportEvery is how often the job reports its progress, which also says that its crashes
	// are not its own.
	reportEvery = time.Second
	// outagePause is how long the bulk leaves a database alone that does not answer.
	outagePause = 5 * time.Second

	// maxRunning is how many bulks a node carries out at once: those that wait for their rate
	// must not take all of its slots.
	maxRunning = 2

	maxAttempts  = 20
	longestPause = time.Minute
)

// Observer hears what bulks do on a node.
type Observer interface {
	// BulkStepped reports how many jobs a step acted upon, and how many it left as they were.
	BulkStepped(done, missed int64)
}

// Register lets nodes with the mux carry out the bulks of a store.
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

// run is one attempt to carry a bulk out.
type run struct {
	store     Source
	job       *fairlead.Job
	observers []Observer
	reported  time.Time

	match    matcher
	page     []*fairlead.Job // found, and not acted upon yet
	behind   int64           // the cursor behind them; zero: there are no more
	pageSize int
}

// all makes step after step, until the bulk has ended or the node leaves.
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

// next is the next step: of the jobs that were found, or of those that it finds.
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
		case later && job.ID > b.Newest: // it was made after the bulk
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

// find reads the next jobs. To find many costs hardly more than to find a few, so that it finds
// those of several steps, unless they are large, a rate would let them wait for long, or their
// errors count: another run may have failed otherwise by then.
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

// stepSize is how many jobs a step is about: those of a second, if there is a rate.
func (b *Bulk) stepSize() int {
	if b.Rate <= 0 {
		return stepSize
	}
	return int(min(stepSize, math.Ceil(b.Rate)))
}

// rest is how long to wait after a step with so many jobs.
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

// report shows the progress on the job, now and then.
func (r *run) report(ctx context.Context, b *Bulk) error {
	if now := time.Now(); now.Sub(r.reported) >= reportEvery {
		r.reported = now
		return fairlead.Progress(ctx, map[string]int64{"done": b.Done, "missed": b.Missed, "matched": b.Matched})
	}
	return nil
}
