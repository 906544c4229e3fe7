package fairlead

import (
	"context"
	"encoding/json"
	"fmt"
)

// Kind is a named type of job whose args have the Go type T. Declare it once and share it
// between the code that enqueues jobs and the code that handles them.
type Kind[T any] struct {
	name string
}

// NewKind declares a kind with the given name.
func NewKind[T any](name string) Kind[T] { return Kind[T]{name: name} }

// notEncoded is in front of an error that stands where args should: no document begins so.
const notEncoded = "!"

// Name returns the kind's name.
func (k Kind[T]) Name() string { return k.name }

// Job returns a new job of this kind with the given args, ready to be enqueued. If args
// cannot be encoded as JSON, Enqueue returns ErrInvalid for the job.
func (k Kind[T]) Job(args T) *Job {
	encoded, err := json.Marshal(args)
	if err != nil {
		// The error is kept instead, so that it surfaces where errors are handled and not
		// as a panic here.
		encoded = []byte(notEncoded + err.Error())
	}
	return &Job{Kind: k.name, Args: encoded}
}

// Args decodes the args of a job of this kind. It returns an error if the args do not fit T.
func (k Kind[T]) Args(job *Job) (T, error) {
	var args T
	if len(job.Args) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return args, fmt.Errorf("args of job %d do not fit kind %q: %w", job.ID, k.name, err)
	}
	return args, nil
}

// Handle registers work as the handler for this kind. A job whose args cannot be decoded
// fails immediately, because a retry would not help.
func (k Kind[T]) Handle(mux *Mux, work func(ctx context.Context, job *Job, args T) error) {
	k.HandleWith(mux, HandlerOptions{}, work)
}

// HandleWith registers work as the handler for this kind, with options. See Handle.
func (k Kind[T]) HandleWith(mux *Mux, options HandlerOptions, work func(ctx context.Context, job *Job, args T) error) {
	mux.Handle(k.name, options, HandlerFunc(func(ctx context.Context, job *Job) error {
		args, err := k.Args(job)
		if err != nil {
			return Fatal(err)
		}
		return work(ctx, job, args)
	}))
}
