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
	maxRunning = 8

	maxAttempts  = 20
	longestPause = time.Minute
)

// Register lets nodes with the mux carry out the bulks of a store.
func Register(mux *fairlead.Mux, store Source) {
	options := fairlead.HandlerOptions{
		MaxAttempts: maxAttempts, Retry: fairlead.Exponential(time.Second, longestPause), Timeout: check.MaxPause, MaxRunning: maxRunning,
	}
	mux.Handle(Kind, options, fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		err := (&run{store: store, job: job}).all(ctx)
		if errors.Is(err, fairlead.ErrUnavailable) && ctx.Err() == nil {
			return fairlead.SnoozeFor(outagePause)
		}
		return err
	}))
}

// run is one attempt to carry a bulk out.
type run struct {
	store    Source
	job      *fairlead.Job
	reported time.Time
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
		before := b.Done + b.Missed
		if b, err = r.store.StepBulk(ctx, step); err != nil {
			return err
		}
		if err := r.report(ctx, &b); err != nil {
			return err
		}
		pause := time.NewTimer(b.rest(b.Done+b.Missed-before, time.Since(begun)))
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

// next finds the jobs of the next step.
func (r *run) next(ctx context.Context, b *Bulk) (Step, error) {
	filter := b.Filter
	filter.Below, filter.Limit = b.Cursor, b.stepSize()
	page, err := r.store.FindPage(ctx, filter)
	if err != nil {
		return Step{}, err
	}
	step := Step{Bulk: b.ID, Fence: r.job.Fence, Cursor: b.Cursor, Next: page.Next}
	for _, job := range page.Jobs {
		if !b.about(job) {
			continue
		}
		if job.Kind == Kind {
			step.GiveUp = append(step.GiveUp, Miss{job.ID, fmt.Sprintf("job %d carries out a bulk; stop that bulk instead", job.ID)})
			continue
		}
		step.Jobs = append(step.Jobs, Subject{job.ID, job.Tenant})
	}
	return step, nil
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
