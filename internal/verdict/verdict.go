// Package verdict decides the next state of a job. It is independent of databases.
//
// Nodes, and the service to which remote workers report, call Decide with the result of a
// handler. Stores call Settle, JobState.Resolve, TakeBack and the methods of Action to
// decide the effect of a settlement, an answer, a lost node or an operator's action on a
// job that they have locked. Where a store makes such a decision in SQL for many jobs at
// once, the model in storetest checks it against the same functions.
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

// Reasons for ending a run before its handler returned.
var (
	ErrCancelled = errors.New("the job was cancelled")
	ErrDraining  = errors.New("the node is shutting down")
	ErrTimeout   = errors.New("the attempt took longer than its timeout")
	// ErrStuck is added if the handler did not return even then.
	ErrStuck = errors.New("the handler did not return in time after its context had ended")
)

// PanicError is the error recorded for a handler that panicked.
type PanicError struct {
	Text string // value of the panic and its stack
}

func (p *PanicError) Error() string { return p.Text }

// NewPanic returns the error for a recovered panic value. The error includes the stack.
func NewPanic(value any) *PanicError {
	return &PanicError{Text: fmt.Sprintf("panic: %v\n\n%s", value, debug.Stack())}
}

// Judge calls Decide and recovers from panics in user code, for example in an error's Error
// method or a RetryDelay function. A panic there is a failure of the job, not of the node.
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

// Decide returns the settlement for a handler's result. cause is the reason why the
// handler's context ended, or nil if it did not end. Apart from jitter, Decide is a pure
// function.
//
// A success counts regardless of the context. An outcome that the handler chose counts
// unless the job was cancelled. Any other error is a failed attempt, with three exceptions:
// the node stopped the handler to shut down, the handler could not reach the store, or the
// process had no file descriptors left. These are not the handler's fault, so the job runs
// again later.
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

// chosen returns the settlement for the handler's own outcome after validating it.
func chosen(job *fairlead.Job, entry *fairlead.Entry, outcome *fairlead.Outcome, err error, output json.RawMessage) fairlead.Settlement {
	s := outcome.Settlement()
	if s.Error != "" {
		s.Error = err.Error() // includes the text with which the handler wrapped it
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

// retryOfWait returns the pause after which a job is retried if its wait fails, or nil if
// that ends the job. It is decided when the wait begins, because only the node knows the
// handler's options; nothing it depends on changes while the job waits.
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

// leastAway is the minimum wait of a job to which the store was unavailable, or whose
// process had no file descriptors left.
const leastAway = time.Second

// pause returns the wait of a job after a number of attempts.
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

// Timeout returns the time limit for one attempt of a job. It uses the first limit that is set
// by the handler's TimeoutOf, the job, the handler's options, and the node, in this order.
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

// chosenTimeout returns the result of the handler's TimeoutOf. If that panics, the result
// is ignored: the handler will meet the same job.
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
