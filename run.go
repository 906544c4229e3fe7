package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Run lets a handler report to its node while it works. The engine adds a Run to each
// handler's context.
type Run interface {
	// Save stores progress and memo under the job's fence.
	Save(ctx context.Context, save Save) error
	// SetOutput holds the result until the run ends.
	SetOutput(output json.RawMessage)
	// SetProgress holds progress until the run ends.
	SetProgress(progress json.RawMessage)
	// Job returns the job that runs.
	Job() *Job
}

// Tenure is an optional interface of a Run that serves long-running handlers.
type Tenure interface {
	// Leaving returns a channel that is closed when the node wants to stop all its work,
	// because it shuts down or an operator drains it.
	Leaving() <-chan struct{}
	// LeasedUntil returns the time until which no other node can run the job, by the
	// node's clock.
	LeasedUntil() time.Time
}

// Leaving returns a channel that is closed when the running job's node wants to stop all its
// work. A handler that would otherwise run indefinitely should then return Release. If ctx
// is not a handler's context, Leaving returns nil.
func Leaving(ctx context.Context) <-chan struct{} {
	if tenure, ok := ctx.Value(runKey{}).(Tenure); ok {
		return tenure.Leaving()
	}
	return nil
}

// LeasedUntil returns a function that returns the time until which no other node can run the
// handler's job, by the node's clock. If ctx is not a handler's context, LeasedUntil returns
// nil.
func LeasedUntil(ctx context.Context) func() time.Time {
	if tenure, ok := ctx.Value(runKey{}).(Tenure); ok {
		return tenure.LeasedUntil
	}
	return nil
}

type runKey struct{}

// ContextWithRun returns a context that carries the run. It is meant for engines and
// for tests of handlers.
func ContextWithRun(ctx context.Context, run Run) context.Context {
	return context.WithValue(ctx, runKey{}, run)
}

var errNoRun = errors.New("fairlead: this context does not belong to a running job")

func runOf(ctx context.Context) (Run, error) {
	run, ok := ctx.Value(runKey{}).(Run)
	if !ok {
		return nil, errNoRun
	}
	return run, nil
}

// RunningJob returns the job whose handler has this context. It returns false if ctx is not
// a handler's context. Batch operations use it to pass the job's fence to their targets,
// which compare fences to reject superseded runs.
func RunningJob(ctx context.Context) (*Job, bool) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, false
	}
	return run.Job(), true
}

// SetOutput sets v, encoded as JSON, as the running job's result. It is stored when the job
// succeeds.
func SetOutput(ctx context.Context, v any) error {
	run, err := runOf(ctx)
	if err != nil {
		return err
	}
	output, err := encode("output", v)
	if err != nil {
		return err
	}
	run.SetOutput(output)
	return nil
}

// Progress stores v, encoded as JSON, as the running job's progress and resets the job's
// crash count. It returns ErrLeaseLost if the node has lost the job. The handler's context
// is then about to end. While the store is unavailable, Progress retries until the run ends,
// and then returns an error that wraps ErrUnavailable. If the handler returns this error,
// the job runs again without counting a failure.
func Progress(ctx context.Context, v any) error {
	run, err := runOf(ctx)
	if err != nil {
		return err
	}
	progress, err := encode("progress", v)
	if err != nil {
		return err
	}
	return run.Save(ctx, Save{ID: run.Job().ID, Fence: run.Job().Fence, Progress: progress})
}

// FinalProgress sets v, encoded as JSON, as the run's final progress. It is stored when the
// run ends, whatever the result, and needs no separate write.
func FinalProgress(ctx context.Context, v any) error {
	run, err := runOf(ctx)
	if err != nil {
		return err
	}
	progress, err := encode("progress", v)
	if err != nil {
		return err
	}
	run.SetProgress(progress)
	return nil
}

// Remember immediately stores v, encoded as JSON, as the running job's memo. The memo
// therefore survives a crash. Remember returns the same errors as Progress.
func Remember(ctx context.Context, v any) error {
	run, err := runOf(ctx)
	if err != nil {
		return err
	}
	memo, err := encode("memo", v)
	if err != nil {
		return err
	}
	return run.Save(ctx, Save{ID: run.Job().ID, Fence: run.Job().Fence, Memo: memo})
}

func encode(what string, v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be encoded: %w", what, err)
	}
	return raw, CheckJSON(what, raw)
}
