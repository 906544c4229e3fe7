package engine

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/descriptors"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// run is one claimed job on its way through the node.
type run struct {
	job   *fairlead.Job
	entry *fairlead.Entry
	group *group
	save  func(context.Context, fairlead.Save) error

	leased func() time.Time // until when the node's lease is confirmed

	secrets *secrets // which of its fields are confidential

	documents int64 // bytes that it was claimed with

	admitted bool            // it counts among the node's sweeps, if it goes over a shard
	leaving  <-chan struct{} // closed when the node wants to have nothing more to do
	own      *farewell       // of a run that goes over a shard: it may be asked to end alone

	settled atomic.Bool // the goroutine that sets it settles: the worker, or the watch that gave up on it
	freed   atomic.Bool // whether another crash suspect may be taken, if it is one
	slotted atomic.Bool // whether its slot has been given to others (see watch)

	mu       sync.Mutex
	started  time.Time          // zero while queued
	timeout  time.Duration      // of the attempt; zero while queued
	cancel   context.CancelFunc // nil while queued
	cause    error              // why the context was ended
	ended    time.Time          // when
	output   json.RawMessage
	progress json.RawMessage
	args     json.RawMessage // as it was before the handler could change the job
	memo     json.RawMessage // likewise
	saved    fairlead.Save   // what the handler has saved last

	sweepArgs []json.RawMessage // of the sweep whose shard it processes, the latest last
}

func (r *run) held() driver.Held { return driver.Held{ID: r.job.ID, Fence: r.job.Fence} }

// begin is called as the handler starts. It reports false if the run was ended
// before.
func (r *run) begin(timeout time.Duration, cancel context.CancelFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil {
		return false
	}
	r.timeout, r.cancel, r.started = timeout, cancel, time.Now()
	r.args, r.memo = r.job.Args, r.job.Memo
	return true
}

// end ends the handler's context for a cause; the first cause counts.
func (r *run) end(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil {
		return
	}
	r.cause, r.ended = cause, time.Now()
	if r.cancel != nil && !errors.Is(cause, verdict.ErrTimeout) { // that ends by its deadline, and the handler sees so
		r.cancel()
	}
}

func (r *run) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// overdue tells for how long the handler has ignored the end of its context.
func (r *run) overdue(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == nil {
		return 0
	}
	return now.Sub(r.ended)
}

// begun reports whether the handler has started.
func (r *run) begun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.started.IsZero()
}

// took is how long the handler has run; zero if it never started.
func (r *run) took() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started.IsZero() {
		return 0
	}
	return time.Since(r.started)
}

// Save (in save.go), SetOutput, SetProgress and Job are fairlead.Run: what the handler
// can say.

// SetOutput keeps the result for the settlement.
func (r *run) SetOutput(output json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output = output
}

// SetProgress keeps progress for the settlement.
func (r *run) SetProgress(progress json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = progress
}

// settlement is what becomes of the job, given what its handler returned.
func (r *run) settlement(err, cause error) fairlead.Settlement {
	r.mu.Lock()
	output, progress, begun := r.output, r.progress, !r.started.IsZero()
	r.mu.Unlock()
	s := verdict.Judge(r.job, r.entry, err, cause, output)
	s.Progress, s.Unstarted = progress, s.Move == fairlead.MoveRelease && !begun
	s.Error = r.hide(s.Error) // a panic shows what it likes
	return s
}

// Leaving and LeasedUntil are fairlead.Tenure: what the handler can know of its node.

// Leaving is closed when the node wants to have nothing more to do.
func (r *run) Leaving() <-chan struct{} { return r.leaving }

// LeasedUntil is until when the node's lease is confirmed.
func (r *run) LeasedUntil() time.Time { return r.leased() }

// Job is the job that runs.
func (r *run) Job() *fairlead.Job { return r.job }

// execute runs the handler and settles what it decided.
func (l *life) execute(r *run) {
	timeout := verdict.Timeout(r.job, r.entry, l.options.Timeout)
	ctx, cancel := context.WithTimeoutCause(fairlead.ContextWithRun(l.options.Base(), r), timeout, verdict.ErrTimeout)
	defer cancel()
	var err error
	if l.lease.valid() && r.begin(timeout, cancel) {
		l.options.Observer.Started(r.job)
		l.tellStarted(r.job)
		err = call(ctx, r)
		if ctx.Err() == context.DeadlineExceeded {
			r.end(verdict.ErrTimeout)
		}
	} else {
		r.end(errFenced)
		err = r.why()
	}
	if r.settled.CompareAndSwap(false, true) {
		l.settle(r, err)
	}
	l.registry.over(r)
}

// call runs the handler and turns a panic into an error.
func call(ctx context.Context, r *run) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = verdict.NewPanic(value)
		}
	}()
	return r.entry.Handler.Work(mask.WithArgs(mask.WithHider(ctx, r.hide), r.addArgs), r.job)
}

// settle hands over what became of a run. A run that was fenced has nothing to
// say: its lease belongs to others.
func (l *life) settle(r *run, err error) {
	cause := r.why()
	if errors.Is(cause, errFenced) {
		l.forget([]*run{r})
		return
	}
	if errors.Is(cause, verdict.ErrTimeout) {
		l.tellTimeout(r.job)
	}
	settlement := r.settlement(err, cause)
	switch put := settlement.Move == fairlead.Snooze; {
	case put && errors.Is(err, fairlead.ErrUnavailable):
		l.logOf(r.job).Warn("run postponed: the store was unavailable", "error", err, "retry_in", settlement.After)
	case put && descriptors.Exhausted(err):
		l.logOf(r.job).Error("run postponed: this process has no file descriptors left", "error", err, "retry_in", settlement.After)
	}
	l.settles(ending{run: r, err: err, took: r.took(), settlement: settlement})
}

// forget drops runs whose lease is settled or lost.
func (l *life) forget(runs []*run) {
	l.registry.forget(runs)
	for _, r := range runs {
		l.freeSolo(r)
	}
}

// freeSolo lets the node take another crash suspect if the run was one.
func (l *life) freeSolo(r *run) {
	if r.job.Solo && r.freed.CompareAndSwap(false, true) {
		l.solo.Store(false)
		r.group.suspects.poke()
	}
}
