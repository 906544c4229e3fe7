// Package verdict decides what becomes of a job. Nothing in it knows a database.
//
// Nodes, and the service that remote workers report to, ask Decide what a handler's
// result means. Stores ask what a settlement, an answer, a lost node or an operator
// makes of a job that they have locked: Settle, Standing.Resolve, TakeBack and Action.
// Where a store decides in SQL, about many jobs at once, the model of storetest holds it
// to the same functions.
package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/descriptors"
)

// Why a run was ended before its handler returned.
var (
	ErrCancelled = errors.New("the job was cancelled")
	ErrDraining  = errors.New("the node is shutting down")
	ErrTimeout   = errors.New("the attempt took longer than its timeout")
	// ErrStuck is added if the handler did not return even then.
	ErrStuck = errors.New("the handler did not return in time after its context had ended")
)

// PanicError is a panic of a handler.
type PanicError struct {
	Text string // what it panicked with, and where
}

func (p *PanicError) Error() string { return p.Text }

// NewPanic is the error of a value that was recovered, with the stack.
func NewPanic(value any) *PanicError {
	return &PanicError{Text: fmt.Sprintf("panic: %v\n\n%s", value, debug.Stack())}
}

// Judge is Decide for code that is not ours: the text of an error or a
// RetryDelay may panic too, and that is the job's failure, not the node's.
func Judge(job *fairlead.Job, entry *fairlead.Entry, err, cause error, output json.RawMessage) (s fairlead.Settlement) {
	defer func() {
		if value := recover(); value != nil {
			plain := *entry
			plain.Options.RetryDelay = nil
			s = Decide(job, &plain, NewPanic(value), nil, nil)
		}
	}()
	return Decide(job, entry, err, cause, output)
}

// Decide turns what a handler returned, and why its context ended if it did,
// into what becomes of the job. It is a pure function but for jitter.
//
// Success counts whatever happened to the context. An outcome that the handler
// chose counts unless the job was cancelled. Any other error is a failed
// attempt, except that ending handlers to shut down is no fault of theirs, and
// neither is a store that was unavailable to them, or a process that has no file
// descriptors left: the job runs again later.
func Decide(job *fairlead.Job, entry *fairlead.Entry, err, cause error, output json.RawMessage) fairlead.Settlement {
	s := choose(job, entry, err, cause, output)
	s.ID, s.Fence, s.FreeKey = job.ID, job.Fence, job.Key != "" || job.ConcurrencyKey != ""
	return s
}

func choose(job *fairlead.Job, entry *fairlead.Entry, err, cause error, output json.RawMessage) fairlead.Settlement {
	if err == nil {
		return fairlead.Settlement{Move: fairlead.Succeed, Output: output}
	}
	if errors.Is(cause, ErrCancelled) {
		return fairlead.Settlement{Move: fairlead.Drop, Error: err.Error()}
	}
	var outcome *fairlead.Outcome
	if errors.As(err, &outcome) {
		return chosen(job, entry, outcome, err, output)
	}
	if errors.Is(cause, ErrDraining) {
		return fairlead.Settlement{Move: fairlead.MoveRelease}
	}
	if errors.Is(err, fairlead.ErrUnavailable) || descriptors.Exhausted(err) {
		return fairlead.Settlement{Move: fairlead.Snooze, After: max(pause(job, entry, err, job.Attempt), leastAway)}
	}
	failed := fairlead.Settlement{Move: fairlead.Again, Reason: fairlead.ReasonError, Error: err.Error()}
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked):
		failed.Reason = fairlead.ReasonPanic
	case errors.Is(cause, ErrTimeout):
		failed.Reason = fairlead.ReasonTimeout
	}
	failed.After = pause(job, entry, err, job.Failures+1)
	return orFail(job, entry, failed)
}

// chosen is the handler's own outcome, checked.
func chosen(job *fairlead.Job, entry *fairlead.Entry, outcome *fairlead.Outcome, err error, output json.RawMessage) fairlead.Settlement {
	s := outcome.Settlement()
	if s.Error != "" {
		s.Error = err.Error() // with what the handler wrapped around it
	}
	switch s.Move {
	case fairlead.Succeed:
		s.Output = output
		if s.Replace == nil {
			break
		}
		if invalid := fairlead.NormalizeJobs([]*fairlead.Job{s.Replace}); invalid != nil {
			return fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "replacement: " + invalid.Error()}
		}
	case fairlead.Again:
		return orFail(job, entry, s)
	case fairlead.MoveAwait:
		if s.After <= 0 {
			return fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "Await requires a positive duration"}
		}
		s.Retry = retryOfWait(job, entry, s.Retry != nil)
	}
	return s
}

// retryOfWait is the pause after which a job is tried again whose wait fails; nil if that
// ends the job. It is decided when the wait begins, because only the node knows what the
// handler says; nothing that it depends on changes while the job waits.
func retryOfWait(job *fairlead.Job, entry *fairlead.Entry, wanted bool) *time.Duration {
	if !wanted || job.Failures+1 >= maxAttempts(job, entry) {
		return nil
	}
	after := pause(job, entry, errNoAnswer, job.Failures+1)
	return &after
}

// orFail makes the last allowed failure final.
func orFail(job *fairlead.Job, entry *fairlead.Entry, s fairlead.Settlement) fairlead.Settlement {
	if job.Failures+1 < maxAttempts(job, entry) {
		return s
	}
	return fairlead.Settlement{Move: fairlead.Fail, Reason: s.Reason, Error: s.Error, Memo: s.Memo}
}

func maxAttempts(job *fairlead.Job, entry *fairlead.Entry) int {
	switch {
	case job.MaxAttempts > 0:
		return job.MaxAttempts
	case entry.Options.MaxAttempts > 0:
		return entry.Options.MaxAttempts
	default:
		return fairlead.DefaultMaxAttempts
	}
}

// leastAway is how long a job waits at least to which the store was unavailable, or for which
// its process had no file descriptors left.
const leastAway = time.Second

// pause is how long a job waits after so many attempts.
func pause(job *fairlead.Job, entry *fairlead.Entry, err error, attempts int) time.Duration {
	switch {
	case entry.Options.RetryDelay != nil:
		return max(0, entry.Options.RetryDelay(job, err))
	case job.Retry != nil:
		return job.Retry.Delay(attempts)
	default:
		return entry.Options.Retry.Delay(attempts)
	}
}

// Timeout is how long one attempt of a job may take: what its handler chooses by
// the job, else what the job says, else its handler, else the node.
func Timeout(job *fairlead.Job, entry *fairlead.Entry, node time.Duration) time.Duration {
	chosen := chosenTimeout(job, entry)
	switch {
	case chosen > 0:
		return chosen
	case job.Timeout > 0:
		return job.Timeout
	case entry.Options.Timeout > 0:
		return entry.Options.Timeout
	default:
		return node
	}
}

// chosenTimeout is what the handler's TimeoutOf says. If it panics it has no
// say: the handler will meet the same job.
func chosenTimeout(job *fairlead.Job, entry *fairlead.Entry) (chosen time.Duration) {
	if entry.Options.TimeoutOf == nil {
		return 0
	}
	defer func() {
		if recover() != nil {
			chosen = 0
		}
	}()
	return entry.Options.TimeoutOf(job)
}
