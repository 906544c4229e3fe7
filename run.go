package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Run is what a handler can tell its node while it works. The engine puts one
// into every handler's context.
type Run interface {
	// Save stores progress and memo under the job's fence.
	Save(ctx context.Context, save Save) error
	// SetOutput keeps the result until the run ends.
	SetOutput(output json.RawMessage)
	// SetProgress keeps progress until the run ends.
	SetProgress(progress json.RawMessage)
	// Job is the job that runs.
	Job() *Job
}

// Tenure is what a Run can tell of its node besides. It is for handlers that go on
// for long.
type Tenure interface {
	// Leaving is closed when the node wants to have nothing more to do: it shuts down,
	// or an operator drains it.
	Leaving() <-chan struct{}
	// LeasedUntil is until when the node may be sure that no other node runs the job.
	LeasedUntil() time.Time
}

// Leaving is closed when the node of a running job wants to have nothing more to do. A
// handler without an end of its own should then return Release. It is never closed if
// the context is not that of a node.
func Leaving(ctx context.Context) <-chan struct{} {
	if tenure, ok := ctx.Value(runKey{}).(Tenure); ok {
		return tenure.Leaving()
	}
	return nil
}

// LeasedUntil tells until when no other node can run the job that runs under the
// context, by the node's clock. It is nil if the context is not that of a node.
func LeasedUntil(ctx context.Context) func() time.Time {
	if tenure, ok := ctx.Value(runKey{}).(Tenure); ok {
		return tenure.LeasedUntil
	}
	return nil
}

type runKey struct{}

// ContextWithRun is for engines and tests of handlers.
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

// RunningJob is the job that runs under the context, if it is that of a node. Operations
// need it for the job's fence, which targets compare to refuse a run that was overtaken.
func RunningJob(ctx context.Context) (*Job, bool) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, false
	}
	return run.Job(), true
}

// SetOutput keeps v, encoded as JSON, as the result of the running job. It is
// stored with the job's success.
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

// Progress stores v, encoded as JSON, as the progress of the running job, and
// forgets its crashes. It fails with ErrLeaseLost if the job has been taken
// away; the handler's context is then about to end. A store that is unavailable is
// asked again until the run is over; return the error then, which wraps
// ErrUnavailable, and the job runs again without having failed.
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

// FinalProgress keeps v, encoded as JSON, as the progress with which the run
// ends. It is stored with the end of the run, whatever that is, and costs no
// write of its own.
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

// Remember stores v, encoded as JSON, as the memo of the running job at once,
// so that it survives a crash. It fails as Progress does.
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
