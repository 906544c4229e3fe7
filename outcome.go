package fairlead

import (
	"encoding/json"
	"errors"
	"time"
)

// Outcome is a value that a handler returns instead of nil or a plain error to choose what
// happens to its job. It implements error, so a handler can return and wrap it like any
// other error.
type Outcome struct {
	move    Move
	after   time.Duration
	at      time.Time
	err     error
	memo    json.RawMessage
	replace *Job
	retry   bool
}

// Fatal returns an outcome that fails the job immediately, regardless of the remaining
// attempts.
func Fatal(err error) error {
	if err == nil {
		err = errors.New("fatal")
	}
	return &Outcome{move: Fail, err: err}
}

// RetryAt returns an outcome that counts as a failed attempt and retries the job at the
// given time. The attempt counts against MaxAttempts. A time beyond MaxMicros is changed to
// MaxMicros.
func RetryAt(at time.Time, err error) *Outcome { return &Outcome{move: Again, at: at, err: err} }

// RetryAfter returns an outcome that counts as a failed attempt and retries the job after
// the given pause. See RetryAt.
func RetryAfter(pause time.Duration, err error) *Outcome {
	return &Outcome{move: Again, after: pause, err: err}
}

// SnoozeFor returns an outcome that runs the job again after the given pause. It does not
// count as a failure.
func SnoozeFor(pause time.Duration) *Outcome { return &Outcome{move: Snooze, after: pause} }

// SnoozeUntil returns an outcome that runs the job again at the given time. It does not
// count as a failure. The same limit applies to the time as in RetryAt.
func SnoozeUntil(at time.Time) *Outcome { return &Outcome{move: Snooze, at: at} }

// Replace returns an outcome that ends the running job as succeeded and enqueues the given
// job in the same transaction.
func Replace(job *Job) error { return &Outcome{move: Succeed, replace: job} }

// Await returns an outcome that leaves the job waiting for an answer, without occupying a
// slot. The answer arrives through Client.Resolve with the job's ID and fence. If no answer
// arrives within the given time, the job fails. See OrRetry.
func Await(within time.Duration) *Outcome { return &Outcome{move: MoveAwait, after: within} }

// OrRetry returns a copy of an Await outcome that retries the job after a failure. If the
// answer is missing or reports a failure, this counts as a failed attempt, and the job is
// retried according to its Retry and MaxAttempts, unless the failure is Fatal. Without
// OrRetry, the job fails immediately in both cases.
func (o *Outcome) OrRetry() *Outcome {
	kept := *o
	kept.retry = true
	return &kept
}

// Release returns an outcome that puts the job back in its queue without using up an attempt
// number. The store records that the run had begun.
func Release() error { return &Outcome{move: MoveRelease} }

// Remember returns a copy of the outcome that stores v, encoded as JSON, as the job's memo
// for its next run. The job fails if v cannot be stored.
func (o *Outcome) Remember(v any) *Outcome {
	memo, err := encode("memo", v)
	if err != nil {
		return &Outcome{move: Fail, err: err}
	}
	kept := *o
	kept.memo = memo
	return &kept
}

// Error returns the text of the error inside the outcome. If there is none, it returns the
// outcome's name.
func (o *Outcome) Error() string {
	if o.err != nil {
		return o.err.Error()
	}
	return "job outcome: " + string(o.move)
}

// Unwrap returns the error inside the outcome. It returns nil if there is none.
func (o *Outcome) Unwrap() error { return o.err }

// Settlement returns the settlement that the outcome requests. The job's ID and fence are
// not set. It is meant for engines.
func (o *Outcome) Settlement() Settlement {
	s := Settlement{Move: o.move, After: o.after, At: o.at, Memo: o.memo, Replace: o.replace}
	switch o.move {
	case Fail:
		s.Reason = ReasonFatal
	case Again:
		s.Reason = ReasonError
	case MoveAwait:
		if o.retry {
			s.Retry = new(time.Duration) // how long it is depends on the job
		}
	}
	if o.err != nil {
		s.Error = o.err.Error()
	}
	return s
}
